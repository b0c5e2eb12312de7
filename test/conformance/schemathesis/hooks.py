"""What the check of Schemathesis counts as a refused form: `npm run test:schemathesis`."""

import re

import schemathesis

# JSON Schema cannot say these: rules between members, about the order that a request names, and about texts and numbers anywhere (C10).
# U+0000 in a query is a bad escape.
NO_FORM = re.compile(
    "is given twice$|must not be before (?:dateFrom|from)$|makes a line worth more than|The order has no such line|is not a line of the order$"
    "|must not contain U[+]0000$|has U[+][0-9A-F]{4,6}; |has a bad percent-escape$|a number that cannot be held exactly"
)


@schemathesis.check
def valid_forms_are_accepted(ctx, response, case) -> None:
    """A request that the schemas allow is not refused for the form of a member.

    Such a refusal is 400 with details that name a path. A refusal by an order's state is 400 too (docs/contract.md), without a path,
    and generated requests meet all of them: so the built-in check, which goes by the status alone, is not used.
    """
    if case.meta is None or not case.meta.generation.mode.is_positive or response.status_code != 400:
        return
    details = response.json()["error"].get("details", [])
    forms = [f"{each['path']}: {each['message']}" for each in details if "path" in each]
    refused = [form for form in forms if not NO_FORM.search(form)]
    assert not refused, f"Valid form refused: {'; '.join(refused)}"
