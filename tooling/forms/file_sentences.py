"""Every sentence that is said of whole files and archives, beside those of ``tooling.forms.sentences``."""

from django.utils.translation import gettext_noop

FILE_SENTENCES = (
    # Which files
    gettext_noop("not the name of a definition file, ignored; expected %(known)s"),
    gettext_noop("no definition file here; expected %(known)s"),
    gettext_noop("not a definition file; expected %(known)s, workflows/NAME.vN.yaml or mcpServers.json"),
    gettext_noop("version is missing; read as version: 1"),
    gettext_noop("an intent needs a name (a text)"),
    gettext_noop('intent "%(name)s" is defined twice'),
    gettext_noop("%(where)s differs from %(place)s; make them equal or remove one"),
    gettext_noop("workflow %(workflow)s differs from %(place)s"),
    gettext_noop("make them equal or remove one"),
    gettext_noop('the file holds workflow "%(name)s" version %(version)s; name it %(file)s'),
    # What old installations wrote
    gettext_noop("state_policies are not needed: precedence is fixed (runtime.md §6)"),
    gettext_noop("requires belongs in tool_policies.yaml; united with the policy of %(tool)s"),
    gettext_noop("requires belongs in tool_policies.yaml; used because %(tool)s has no policy entry"),
    gettext_noop("confirmation_required belongs in tool_policies.yaml; the policy of %(tool)s decides"),
    gettext_noop("confirmation_required belongs in tool_policies.yaml (require_confirmation)"),
    gettext_noop('type "date" read as string with format date'),
    # What was uploaded
    gettext_noop("%(size)s bytes together, the limit is %(limit)s"),
    gettext_noop("import them one after another"),
    gettext_noop("the name of the file is too long, or has characters that cannot be shown"),
    gettext_noop('"%(name)s" was sent twice'),
    # Archives
    gettext_noop("not a ZIP archive that can be read"),
    gettext_noop("%(size)s bytes when unpacked, the limit is %(limit)s"),
    gettext_noop("import the sets one after another, or with the command"),
    gettext_noop("%(count)s files, the limit is %(limit)s"),
    gettext_noop('"%(name)s" is in the archive twice'),
    gettext_noop("the name of a file in it is too long, or has characters that cannot be shown"),
    gettext_noop('"%(name)s" leads out of the archive'),
    gettext_noop('"%(name)s" is a link, and no file'),
    gettext_noop('"%(name)s" is protected by a password'),
    gettext_noop('"%(name)s" is packed in a way that is not read here'),
    gettext_noop("make an ordinary ZIP archive"),
)
