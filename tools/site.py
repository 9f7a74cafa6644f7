"""What mkdocs.yml asks of MkDocs besides its own: the home page, anchors, and the list of decisions."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import lint_citations  # noqa: E402  (what the anchors of the repository are, it knows)


def anchor(heading, _separator):
    return lint_citations.slug(heading)


def title_of(path):
    return path.read_text(encoding="utf-8").splitlines()[0].lstrip("# ")


def on_config(config):
    config["mdx_configs"].setdefault("toc", {})["slugify"] = anchor
    for entry in config["nav"]:
        for name, folder in entry.items():
            if str(folder).endswith("/"):
                pages = sorted(Path(config["docs_dir"], folder).glob("*.md"))
                entry[name] = [{title_of(page): folder + page.name} for page in pages]
    return config


def on_page_markdown(markdown, page, **_):
    """Links that leave docs/ lead to the home page, which README.md is; there they come from one folder above."""
    if page.file.src_path == "index.md":
        markdown = (ROOT / "README.md").read_text(encoding="utf-8")
        markdown = re.sub(r"`docs/([\w/]+\.md)`", r"[\1](\1)", markdown)
        return markdown.replace("](docs/", "](").replace("](LICENSE)", "](https://www.apache.org/licenses/LICENSE-2.0)")
    return markdown.replace("](../README.md", "](index.md")
