"""The chain of evidence: any row that is changed, deleted, moved or slipped in is found and named."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from transactions.core.evidence import SEARCHED, START, Entry, Wrong, canonical, check_chain, fingerprint, link

NOON = datetime(2026, 5, 4, 12, 0, 0, 125, tzinfo=UTC)


def chain_of(*texts):
    """Entries as the product writes them, and the hash of the newest."""
    entries, head = [], START
    for number, text in enumerate(texts, 1):
        entry = Entry(
            conversation="c-1",
            kind=f"kind.{number % 3}",
            at=NOON + timedelta(seconds=number),
            id=number * 2,
            number=number,
            seq=number,
            data={"text": text},
        )
        head = link(head, entry.content())
        entries.append(replace(entry, hash=head))
    return entries, head


def found(entries, head, length):
    rows = sorted(entries, key=lambda entry: (entry.number is None, entry.number or 0, entry.id))
    return list(check_chain(rows, length=length, head=head))


def named(findings):
    return [(finding.wrong, finding.number) for finding in findings]


texts = st.lists(st.text(max_size=5), min_size=1, max_size=12)


# Canonical bytes ------------------------------------------


@pytest.mark.parametrize(
    ("written", "read_back"),
    [
        ({"b": 1, "a": 2}, {"a": 2, "b": 1}),
        (1.0, 1),
        (1e16, 10**16),
        (1e300, 10**300),
        (1e23, 10**23),
        (-0.0, 0),
        ((1, 2), [1, 2]),
        ({"n": [1.50, {"x": 1e-6}]}, {"n": [1.5, {"x": 0.000001}]}),
    ],
)
def test_what_a_database_writes_in_another_way_has_the_same_bytes(written, read_back):
    assert canonical(written) == canonical(read_back)


@pytest.mark.parametrize(
    ("one", "other"), [(1, True), (0, False), (1, "1"), (1.5, 1.25), (None, "null"), ([], {}), ("é", "e\u0301")]
)
def test_what_differs_has_other_bytes(one, other):
    assert canonical(one) != canonical(other)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(json_values)
def test_the_bytes_survive_being_stored_as_json(value):
    assert canonical(json.loads(json.dumps(value))) == canonical(value)


def test_a_moment_has_the_same_content_in_every_zone():
    entry = Entry(conversation="c", kind="k", at=NOON)

    moved = replace(entry, at=NOON.astimezone(timezone(timedelta(hours=-3))))

    assert moved.content() == entry.content()


def test_the_content_covers_every_column():
    entry = Entry(conversation="c", kind="k", at=NOON, number=1, seq=1)
    changes = {
        "conversation": "d", "kind": "l", "at": NOON + timedelta(microseconds=1), "number": 2, "seq": 2, "rule": "r",
        "actor": "user", "transaction": "t", "turn": "u", "data": {"a": 1}, "model_calls": [{"ms": 1}],
    }  # fmt: skip

    contents = {replace(entry, **{name: value}).content() for name, value in changes.items()}

    assert set(changes) == set(Entry.__slots__) - {"id", "hash"}
    assert len(contents | {entry.content()}) == len(changes) + 1


# Chains ------------------------------------------


@given(texts)
def test_a_chain_as_it_was_written_is_whole(texts):
    entries, head = chain_of(*texts)

    assert found(entries, head, len(entries)) == []


@given(texts, st.data())
def test_one_changed_row_is_named_and_no_other(texts, data):
    entries, head = chain_of(*texts)
    at = data.draw(st.integers(0, len(entries) - 1))
    change = data.draw(
        st.sampled_from([{"data": {"text": "another"}}, {"kind": "x"}, {"at": NOON}, {"rule": "r"}, {"hash": "0" * 64}])
    )
    entries[at] = replace(entries[at], **change)
    assume(entries[at] != chain_of(*texts)[0][at])

    findings = found(entries, head, len(entries))

    assert named(findings) == [(Wrong.CHANGED, at + 1)]
    assert findings[0].kind == entries[at].kind


@given(texts, st.data())
def test_one_deleted_row_is_named_and_no_other(texts, data):
    entries, head = chain_of(*texts)
    at = data.draw(st.integers(0, len(entries) - 1))
    del entries[at]

    findings = found(entries, head, len(texts))

    assert named(findings) == [(Wrong.MISSING, at + 1)]


@given(st.lists(st.text(max_size=5), min_size=2, max_size=12), st.data())
def test_two_rows_that_exchanged_their_numbers_are_named_and_no_other(texts, data):
    entries, head = chain_of(*texts)
    one, other = data.draw(st.lists(st.integers(0, len(entries) - 1), min_size=2, max_size=2, unique=True))
    swapped = [replace(entries[one], number=other + 1), replace(entries[other], number=one + 1)]
    # The order of the table is another promise, tested below.
    entries[one], entries[other] = replace(swapped[1], id=entries[one].id), replace(swapped[0], id=entries[other].id)

    findings = found(entries, head, len(entries))

    assert sorted(named(findings)) == sorted([(Wrong.REORDERED, one + 1), (Wrong.REORDERED, other + 1)])
    assert {finding.detail for finding in findings} == {
        f"it was written as number {one + 1}",
        f"it was written as number {other + 1}",
    }


@given(st.lists(st.text(max_size=5), min_size=2, max_size=12), st.data())
def test_two_rows_that_exchanged_their_contents_are_named_and_no_other(texts, data):
    entries, head = chain_of(*texts)
    one, other = data.draw(st.lists(st.integers(0, len(entries) - 1), min_size=2, max_size=2, unique=True))
    before = list(entries)
    for here, there in ((one, other), (other, one)):
        stays = {name: getattr(before[here], name) for name in ("id", "number", "hash", "seq")}
        entries[here] = replace(before[there], **stays)

    findings = found(entries, head, len(entries))

    assert sorted(finding.number for finding in findings) == sorted([one + 1, other + 1])


@given(st.lists(st.text(max_size=5), min_size=2, max_size=12), st.data())
def test_rows_that_exchanged_their_places_in_the_table_are_named(texts, data):
    entries, head = chain_of(*texts)
    one, other = sorted(data.draw(st.lists(st.integers(0, len(entries) - 1), min_size=2, max_size=2, unique=True)))
    ids = entries[one].id, entries[other].id
    entries[one], entries[other] = replace(entries[one], id=ids[1]), replace(entries[other], id=ids[0])

    findings = found(entries, head, len(entries))

    # Two neighbours are named by the first of them; of three in reverse, any two may be the ones that moved.
    assert {finding.wrong for finding in findings} == {Wrong.REORDERED}
    expected = {1: [one + 1], 2: [one + 1, one + 2]}.get(other - one, [one + 1, other + 1])
    assert [finding.number for finding in findings] == expected


@given(texts, st.data())
def test_a_row_that_took_another_number_is_named_with_its_own(texts, data):
    entries, head = chain_of(*texts, "last")
    at = data.draw(st.integers(1, len(entries) - 1))
    number = data.draw(st.sampled_from([None, len(entries) + 1, len(entries) + 7]))
    entries[at] = replace(entries[at], number=number, id=entries[at].id if number is None else 1000)

    findings = found(entries, head, len(entries))

    assert [finding.wrong for finding in findings] == [Wrong.REORDERED]
    assert findings[0].detail == f"it was written as number {at + 1}"


@given(texts, st.sampled_from(["without a number", "behind the newest"]))
def test_a_row_that_was_slipped_in_is_named(texts, place):
    entries, head = chain_of(*texts)
    number = None if place == "without a number" else len(entries) + 1
    forged = Entry(conversation="c-1", kind="forged", at=NOON, id=1000, number=number, hash="f" * 64)

    findings = found([*entries, forged], head, len(entries))

    assert [(finding.wrong, finding.kind) for finding in findings] == [(Wrong.INSERTED, "forged")]


def test_a_row_that_was_slipped_in_between_is_named_with_the_rows_that_made_room():
    entries, head = chain_of("a", "b", "c")
    forged = replace(entries[1], data={"text": "x"})
    moved = [replace(entry, number=entry.number + 1, id=entry.id + 2) for entry in entries[1:]]

    findings = found([entries[0], forged, *moved], head, 4)

    assert named(findings) == [(Wrong.CHANGED, 2), (Wrong.REORDERED, 3), (Wrong.REORDERED, 4)]


def test_a_change_that_rewrote_the_hash_as_well_breaks_the_next_row():
    entries, head = chain_of("a", "b", "c")
    forged = replace(entries[1], data={"text": "x"})
    entries[1] = replace(forged, hash=link(entries[0].hash, forged.content()))

    (finding,) = found(entries, head, 3)

    assert (finding.wrong, finding.number) == (Wrong.CHANGED, 3)
    assert "or the hash before it was changed" in finding.detail


def test_a_newest_row_that_was_rewritten_with_its_hash_does_not_fit_the_conversation():
    entries, head = chain_of("a", "b")
    forged = replace(entries[1], data={"text": "x"})
    entries[1] = replace(forged, hash=link(entries[0].hash, forged.content()))

    assert named(found(entries, head, 2)) == [(Wrong.CHANGED, 2)]


def test_all_rows_may_be_gone():
    assert named(found([], "0" * 64, 2)) == [(Wrong.MISSING, 1), (Wrong.MISSING, 2)]
    assert named(found([], "0" * 64, SEARCHED * 2)) == [(Wrong.MISSING, 1)]


def test_events_that_are_older_than_the_chain_are_no_finding():
    entries, head = chain_of("a", "b")
    old = Entry(conversation="c-1", kind="old", at=NOON, id=1)

    assert found([*entries, old], head, 2) == []


def test_a_chain_with_many_wrong_rows_names_every_one_of_them():
    entries, head = chain_of(*map(str, range(500)))
    wrong = range(0, 500, 4)
    for at in wrong:
        entries[at] = replace(entries[at], data={"text": "x"})

    assert named(found(entries, head, 500)) == [(Wrong.CHANGED, at + 1) for at in wrong]


def test_a_fingerprint_is_sha256_of_the_bytes():
    assert fingerprint({}) == "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
