"""The vendors' lists of functions are sorted, have each alias once, and have the same aliases."""

import pathlib
import re
import unittest

VENDORS = pathlib.Path(__file__).parents[3] / "plugins/backends/gpu/vendor"
SHARED = ("DRIVER", "GRAPH", "COMPILER")
ALL = (*SHARED, "OWN", "OPTIONAL")


def lists(vendor: str) -> dict[str, list[tuple[str, str]]]:
    """(alias, symbol) of each list of a vendor's header, in their order."""
    text = (VENDORS / f"{vendor}.h").read_text().replace("\\\n", " ")
    found = {}
    for name in ALL:
        line = re.search(rf"#define HONE_GPU_{name}_FUNCTIONS\(X\)(.*)", text)
        assert line, f"{vendor}.h has no list {name}"
        found[name] = re.findall(r"X\((\w+),\s*(\w+),", line.group(1))
    return found


class Aliases(unittest.TestCase):
    """What a person who adds a function, or a vendor, must keep."""

    def test_each_list_is_sorted_and_each_alias_and_symbol_unique(self) -> None:
        for vendor in ("cuda", "hip"):
            found = lists(vendor)
            for name in ALL:
                aliases = [alias for alias, _ in found[name]]
                self.assertGreater(len(aliases), 0, f"{vendor} {name}")
                self.assertEqual(aliases, sorted(aliases), f"{vendor} {name}")
            every = [pair for name in ALL for pair in found[name]]
            for column in (0, 1):
                names = [pair[column] for pair in every]
                self.assertEqual(len(names), len(set(names)), f"{vendor}: {sorted(names)}")

    def test_the_vendors_have_the_same_aliases(self) -> None:
        cuda, hip = lists("cuda"), lists("hip")
        for name in SHARED:
            self.assertEqual([alias for alias, _ in cuda[name]], [alias for alias, _ in hip[name]])

    def test_the_source_uses_every_alias_and_names_no_vendor(self) -> None:
        folder = VENDORS.parent
        source = "\n".join(path.read_text() for path in sorted([*folder.glob("*.?pp"), *folder.glob("recorded/*.?pp")]))
        for name in SHARED:
            for alias, _ in lists("cuda")[name]:
                self.assertTrue(re.search(rf"\b{alias}\b", source), f"{alias} is not used")
        for vendor in ("cuda", "hip"):
            headers = (VENDORS / f"{vendor}.h").read_text()
            for name in ("OWN", "OPTIONAL"):
                for alias, symbol in lists(vendor)[name]:
                    self.assertGreater(len(re.findall(rf"\b{alias}\b", headers)), 1, f"{vendor}.h: {alias}")
                    self.assertFalse(re.search(rf"\b{symbol}\b", source), f"{symbol} stands outside vendor/")


if __name__ == "__main__":
    unittest.main()
