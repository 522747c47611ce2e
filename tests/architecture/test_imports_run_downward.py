"""The law of the house: imports run downward only."""

import ast
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "visual_search"

# room -> the rooms it may import from (itself always)
BASE = {"counted", "errors", "ids", "undefined"}
LOW = BASE | {"kernels", "formats"}
PIXELS = LOW | {"images", "datasets"}
TABLES = LOW | {"rankings", "ground_truth"}
MAY_IMPORT: dict[str, set[str]] = {
    "__init__": {"rankings", "ground_truth", "evaluation", "indexing", "prediction"},  # lazy names
    "counted": set(),
    "errors": set(),
    "ids": {"counted", "errors"},
    "undefined": set(),
    "kernels": BASE,
    "formats": BASE | {"kernels"},
    "images": LOW,
    "datasets": LOW | {"images"},
    "rankings": LOW | {"kernels"},
    "ground_truth": LOW | {"kernels"},
    "evaluation": TABLES,
    "indexing": PIXELS | {"rankings"},  # an index's answer is a Ranking
    "prediction": PIXELS | {"indexing", "rankings"},
    "tuning": PIXELS | TABLES | {"indexing", "prediction", "evaluation"},
    "leaks": PIXELS | TABLES | {"indexing", "prediction", "evaluation"},
    "judging": PIXELS | TABLES | {"indexing", "prediction", "evaluation"},
    "catalogue": PIXELS | TABLES | {"evaluation"},  # of stored results
    "reports": PIXELS
    | TABLES
    | {"indexing", "prediction", "evaluation", "tuning", "leaks", "judging", "catalogue"},
    "testing": PIXELS | TABLES | {"indexing", "prediction", "evaluation", "tuning", "judging"},
}
MAY_IMPORT["workflows"] = MAY_IMPORT["reports"] | {"reports", "__init__"}
MAY_IMPORT["web"] = MAY_IMPORT["workflows"] | {"workflows"}
MAY_IMPORT["cli"] = MAY_IMPORT["web"] | {"web"}  # `serve` starts the pages
MAY_IMPORT["__main__"] = {"cli"}


def room_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported_rooms(tree: ast.Module) -> set[str]:
    rooms = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            module = node.module or ""
            if module == "visual_search":
                names = {alias.name for alias in node.names}
                rooms |= {"__init__" if name not in MAY_IMPORT else name for name in names}
            elif module.startswith("visual_search."):
                rooms.add(module.split(".")[1])
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name == "visual_search":
                    rooms.add("__init__")
                elif alias.name.startswith("visual_search."):
                    rooms.add(alias.name.split(".")[1])
    return rooms


def test_every_room_is_known_and_imports_only_what_lies_below() -> None:
    wrong = []
    for path in sorted(SOURCE.rglob("*.py")):
        room = room_of(path)
        assert room in MAY_IMPORT, f"{path}: a new room; give it its place in this table and in docs/design"
        above = imported_rooms(ast.parse(path.read_text("utf-8"))) - MAY_IMPORT[room] - {room, "__init__"}
        if room not in {"workflows", "cli", "web"} and "__init__" in imported_rooms(ast.parse(path.read_text())):
            above.add("the package itself")
        wrong += [f"{path.relative_to(SOURCE)} imports {other}" for other in sorted(above)]
    assert not wrong, "\n".join(wrong)


def test_the_law_has_no_circle() -> None:
    def reaches(start: str) -> set[str]:
        seen: set[str] = set()
        todo = [start]
        while todo:
            for below in MAY_IMPORT.get(todo.pop(), set()) - seen:
                seen.add(below)
                todo.append(below)
        return seen

    assert [room for room in MAY_IMPORT if room in reaches(room)] == []
