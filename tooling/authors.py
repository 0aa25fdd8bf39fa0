"""Who did something: a name for people to read, and an identity that no renaming and no change of role touches."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib.auth.base_user import AbstractBaseUser

PERSON = "user:"
"""What the identity of a person begins with; a key of a program is ``apikey:ID``."""


@dataclass(frozen=True, slots=True)
class Author:
    """``identity`` is empty where nobody is known who could be told apart: a command, or nobody at all."""

    name: str = ""
    identity: str = ""

    @property
    def is_person(self) -> bool:
        return self.identity.startswith(PERSON)


def author_of(who: object) -> Author:
    """The author behind a user, the principal of a key (its ``identity``), a name of a command, or None."""
    match who:
        case Author():
            return who
        case None:
            return Author()
        case AbstractBaseUser():
            return Author(who.get_username()[:150], f"{PERSON}{who.pk}")
        case _:
            return Author(str(who)[:150], str(getattr(who, "identity", "")))
