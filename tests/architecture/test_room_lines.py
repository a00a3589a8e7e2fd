"""Every room keeps to its lines, and the check says which does not, by how much, and what to do."""

from pathlib import Path

from tests.architecture import room_lines

ROOMS = {"page/marks/* page/stage/*": 3, "page/*": 2, "words/*.json": 1}
FILES = {"page/marks/a.ts": 2, "page/stage/b.ts": 1, "page/c.ts": 2, "page/data.json": 9, "words/en.json": 1}


def written(root: Path) -> Path:
    for name, lines in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("line\n" * lines)
    return root


def test_the_first_room_that_has_a_file_counts_it(tmp_path: Path) -> None:
    assert room_lines.lines_by_room(written(tmp_path), FILES, ROOMS) == ROOMS


def test_rooms_that_keep_to_their_lines_are_not_mentioned() -> None:
    assert room_lines.sentences(ROOMS, ROOMS) == []


def test_a_room_with_too_many_lines_is_named_with_what_to_do() -> None:
    (said,) = room_lines.sentences({**ROOMS, "page/*": 5}, ROOMS)
    assert said.startswith(
        "page/* has 5 lines, 3 more than it may: take the lines from another room, or change the table"
    )


def test_a_room_without_files_and_a_file_without_a_room_are_named() -> None:
    assert room_lines.sentences({**ROOMS, "page/*": 0}, ROOMS) == [
        "page/* is a room without lines: take it out of the table"
    ]
    assert room_lines.unplaced(["page/c.ts", "other/d.py"], ROOMS) == [
        "no room of the table has other/d.py: give it one"
    ]


def test_the_table_has_a_room_for_the_page_and_for_every_package() -> None:
    rooms = room_lines.budgets()
    for path in ("static/js/main.ts", "static/css/all.css", "gradbox/run.py", "server/app.py", "tests/conftest.py"):
        assert room_lines.room_of(path, rooms) is not None, path
