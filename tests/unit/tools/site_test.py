"""The documentation builds as a site: each page is in its navigation, each link leads somewhere, and nothing of it
comes from the network. Exit status 77 where there is no mkdocs."""

import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.parse
from html.parser import HTMLParser
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
# What a page loads, and not only names.
LOADED = {"script": "src", "img": "src", "link": "href", "iframe": "src"}
NO_RESOURCE = {"canonical", "author", "prev", "next", "search", "edit"}


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.anchors, self.links, self.loaded = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.anchors.update(filter(None, [values.get("id"), values.get("name")]))
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        if tag in LOADED and values.get(LOADED[tag]) and values.get("rel") not in NO_RESOURCE:
            self.loaded.append(values[LOADED[tag]])


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        root = Path(cls.folder.name)
        result = subprocess.run(["mkdocs", "build", "--strict", "--site-dir", root], cwd=ROOT, text=True,
                                capture_output=True, check=False)
        assert result.returncode == 0, result.stderr
        cls.pages = {path.relative_to(root).as_posix(): Page(path.read_text(encoding="utf-8")) for path in root.rglob("*.html")}

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_each_document_is_a_page_in_the_navigation(self):
        documents = {path.relative_to(ROOT / "docs").with_suffix(".html").as_posix() for path in ROOT.glob("docs/**/*.md")}
        self.assertLessEqual(documents, self.pages.keys())
        navigation = {target.partition("#")[0] for target in self.pages["TUTORIAL.html"].links}
        self.assertEqual(documents - navigation, {"TUTORIAL.html"} - navigation)

    def test_each_link_leads_to_a_heading(self):
        count = 0
        for name, page in self.pages.items():
            for link in page.links:
                target, anchor = urllib.parse.urldefrag(urllib.parse.unquote(link))
                if "://" in target or name == "404.html":
                    continue
                path = urllib.parse.urljoin(name, target)
                if not path.endswith(".html"):
                    continue
                count += 1
                self.assertIn(path, self.pages, "%s: %s" % (name, link))
                self.assertTrue(not anchor or anchor in self.pages[path].anchors, "%s: %s" % (name, link))
        self.assertGreater(count, 1000)

    def test_the_home_page_is_the_readme(self):
        self.assertIn("check-your-own-program", self.pages["index.html"].anchors)
        self.assertIn("RACES.html", self.pages["index.html"].links)

    def test_a_report_is_looked_up_by_its_kind(self):
        self.assertLessEqual({"inter-block", "use-after-free", "deadlock"}, self.pages["FINDINGS.html"].anchors)

    def test_nothing_comes_from_the_network(self):
        for name, page in self.pages.items():
            self.assertEqual([source for source in page.loaded if "//" in source], [], name)


if __name__ == "__main__":
    if shutil.which("mkdocs") is None:
        print("skipped: mkdocs is not installed (tools/install_packages.sh page)")
        sys.exit(77)
    unittest.main()
