"""A column is declared once: from that follow its type, what a new row has, what is copied and what a digest covers."""

from __future__ import annotations

from array import array

from state.graph.tables.columns import ColumnTable, column


class Shelf(ColumnTable):
    """Jars on shelves."""

    grams: array[int] = column("q")
    lid: array[int] = column("b", default=1)
    place: array[int] = column("i", in_digest=False)
    label: array[float] = column("d", per="jar")


def filled() -> Shelf:
    shelf = Shelf()
    shelf.grams.extend([250, 2**40])
    shelf.lid.extend([1, 0])
    shelf.place.extend([7, 8])
    shelf.label.append(0.5)
    return shelf


def test_columns_are_listed_in_the_order_of_declaration_under_their_own_names() -> None:
    assert [(each.name, each.code) for each in Shelf.columns] == [
        ("grams", "q"), ("lid", "b"), ("place", "i"), ("label", "d"),
    ]  # fmt: skip


def test_tables_share_no_rows() -> None:
    assert len(filled().grams) == 2
    assert len(Shelf().grams) == 0


def test_a_blank_row_has_the_default() -> None:
    assert [array(each.code, each.blank).tolist() for each in Shelf.columns] == [[0], [1], [0], [0.0]]


def test_a_table_reads_back_what_it_copied_with_the_types_that_were_declared() -> None:
    again = Shelf()
    again.read(filled().copies())
    assert again.copies().keys() == {"grams", "lid", "place", "label"}
    assert [getattr(again, each.name) for each in Shelf.columns] == [
        getattr(filled(), each.name) for each in Shelf.columns
    ]
    assert [rows.dtype.str for rows in again.copies().values()] == ["<i8", "|i1", "<i4", "<f8"]


def test_only_columns_of_one_unit_are_copied_if_asked() -> None:
    assert list(filled().copies("jar")) == ["label"]
    assert list(filled().copies("row")) == ["grams", "lid", "place"]


def test_a_digest_covers_no_column_that_equal_memories_may_differ_in() -> None:
    assert list(filled().arrays()) == ["grams", "lid", "label"]


class Later(Shelf):
    """Jars as a later version has them."""

    broken: array[int] = column("b", added_as="broken_jar")
    beside: array[int] = column("i", -1, added_as="beside")


def later() -> Later:
    shelf = Later()
    shelf.read(filled().copies())
    return shelf


def test_a_column_that_was_added_later_is_blank_in_what_was_packed_before() -> None:
    assert (later().broken.tolist(), later().beside.tolist()) == ([0, 0], [-1, -1])


def test_a_column_that_was_added_later_is_no_content_while_all_of_it_is_blank() -> None:
    shelf = later()
    assert list(shelf.arrays()) == list(filled().arrays())
    shelf.beside[1] = 0
    assert list(shelf.arrays()) == [*filled().arrays(), "beside"]
    again = Later()
    again.read({**shelf.copies()})
    assert (again.broken.tolist(), again.beside.tolist()) == ([0, 0], [-1, 0])
