"""What is exported opens in a spreadsheet as text, however hostile it is."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transactions.core.spreadsheets import BEGINS_A_FORMULA, cell, csv_text


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, ""),
        (True, "true"),
        (False, "false"),
        (3, "3"),
        (-2, "-2"),
        ("PED-1", "PED-1"),
        ("=HYPERLINK(1)", "'=HYPERLINK(1)"),
        ("-1+1", "'-1+1"),
        ("+55 11", "'+55 11"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("\t=1", "'\t=1"),
        ("  =1", "'  =1"),
        ("＝1", "'＝1"),
        ("a=b", "a=b"),
        ("a\0b", "ab"),
        ("", ""),
        ("   ", "   "),
    ],
)
def test_a_cell_is_text_and_never_a_formula(value: object, shown: str) -> None:
    assert cell(value) == shown


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)


@given(st.lists(st.lists(texts, min_size=1, max_size=4), max_size=5), st.sampled_from(",;\t"))
def test_every_row_is_read_back_with_the_guard_as_its_only_change(rows: list[list[str]], delimiter: str) -> None:
    text = csv_text(rows, delimiter=delimiter)

    read = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))

    assert read == [[cell(value) for value in row] for row in rows]
    assert not [one for row in read for one in row if one[:1] in BEGINS_A_FORMULA and one.strip()]
