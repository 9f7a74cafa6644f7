#!/usr/bin/env python3
"""The steps of action.yml and of the recipes in docs/CI.md, run as GitHub and GitLab run them.

    tests/e2e/ci_recipes.py [--build FOLDER] [--prefix FOLDER]

The tool is installed from the build folder, or lies in --prefix, and is packed as a release's tarball is. What
needs their servers, `uses:`, is not run: of an upload the file that it gets is looked at. Exit status 77 without PyYAML
or curl.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as tree
from pathlib import Path

import run_documents

# Debian's Python packages, should this be another Python.
sys.path.append("/usr/lib/python3/dist-packages")
try:
    import yaml
except ImportError:
    yaml = None

ROOT = Path(__file__).resolve().parents[2]
SHELL = ["bash", "--noprofile", "--norc", "-eo", "pipefail"]
arguments = argparse.Namespace()


def value_of(text, context):
    """With what stands in ${{ … }} put in: inputs.NAME and steps.ID.outputs.NAME."""
    return re.sub(r"\$\{\{ *([\w.]+) *\}\}", lambda match: context[match.group(1)], text)


def holds(condition, context):
    """`a == 'b' && c != ''`, which is all that action.yml needs; anything else is an error."""
    clauses = [re.fullmatch(r"([\w.]+) (==|!=) '([^']*)'", clause.strip()) for clause in condition.split("&&")]
    return all((context[clause[1]] == clause[3]) == (clause[2] == "==") for clause in clauses)


def pairs(path):
    return dict(line.split("=", 1) for line in path.read_text(encoding="utf-8").splitlines()) if path.exists() else {}


class Run:
    """One use of the action: the steps that were run, the upload's file, the status of the job."""

    def __init__(self, folder, inputs):
        action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
        missing = [name for name, spec in action["inputs"].items() if spec.get("required") and name not in inputs]
        assert not missing and inputs.keys() <= action["inputs"].keys(), (missing, inputs)
        context = {"inputs." + name: inputs.get(name, spec.get("default")) for name, spec in action["inputs"].items()}
        environment = run_documents.environment(arguments.build)
        environment["PATH"] = environment["PATH"].replace(str(arguments.build / "bin") + os.pathsep, "")
        environment["BARRACUDA_OPTIONS"] = "device=cpu"
        environment["RUNNER_TEMP"] = str(folder / "temp")
        (folder / "temp").mkdir(exist_ok=True)
        self.steps, self.uploaded, self.status, self.output = [], None, 0, ""
        for step in action["runs"]["steps"]:
            if self.status or ("if" in step and not holds(step["if"], context)):
                continue
            self.steps.append(step["name"])
            if "uses" in step:
                self.uploaded = folder / value_of(step["with"]["sarif_file"], context)
                continue
            for name in ("GITHUB_PATH", "GITHUB_OUTPUT"):
                environment[name] = str(folder / "temp" / name)
                Path(environment[name]).unlink(missing_ok=True)
            own = {name: value_of(value, context) for name, value in step.get("env", {}).items()}
            result = subprocess.run([*SHELL, "-c", step["run"]], cwd=folder, env={**environment, **own}, text=True,
                                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=200, check=False)
            self.status, self.output = result.returncode, self.output + result.stdout
            paths = Path(environment["GITHUB_PATH"])
            if paths.exists():
                environment["PATH"] = os.pathsep.join([*reversed(paths.read_text(encoding="utf-8").split()), environment["PATH"]])
            if "id" in step:
                outputs = pairs(Path(environment["GITHUB_OUTPUT"]))
                context.update({"steps.%s.outputs.%s" % (step["id"], name): outputs.get(name, "") for name in ("status", "sarif")})


class Recipes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = Path(os.path.realpath(cls.temporary.name))
        cls.prefix = arguments.prefix
        if cls.prefix is None:
            cls.prefix = cls.folder / "barracuda-release"
            subprocess.run(["cmake", "--install", arguments.build, "--prefix", cls.prefix], stdout=subprocess.DEVNULL, check=True)
        cls.tarball = cls.folder / "release.tar.gz"
        subprocess.run(["tar", "-I", "gzip -1", "-cf", cls.tarball, "-C", cls.prefix.parent, *[
            cls.prefix.name + "/" + part for part in ("bin/barracuda", "lib", "share")]], check=True)
        cls.repository = cls.folder / "repository"
        cls.repository.mkdir()
        shutil.copy(ROOT / "examples/cuda_check.h", cls.repository)
        shutil.copy(ROOT / "examples/shared_sum_race.cu", cls.repository / "app.cu")
        shutil.copy(ROOT / "examples/shared_sum_fixed.cu", cls.repository / "fixed.cu")
        for name in ("app", "fixed"):
            cls.shell("nvcc -lineinfo -cudart shared -o %s %s.cu" % (name, name))
        blocks = [yaml.safe_load(fence["text"]) for fence in
                  run_documents.FENCE.finditer((ROOT / "docs/CI.md").read_text(encoding="utf-8")) if fence["language"] == "yaml"]
        cls.with_action, cls.without_action, cls.gitlab = blocks

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    @classmethod
    def shell(cls, line, **variables):
        environment = {**run_documents.environment(arguments.build), "BARRACUDA_OPTIONS": "device=cpu", **variables}
        return subprocess.run([*SHELL, "-c", line], cwd=cls.repository, env=environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=200, check=False)

    def action(self, **inputs):
        return Run(self.repository, inputs)

    def test_races_fail_the_job_and_are_uploaded(self):
        run = self.action(tarball=str(self.tarball), command="./app")
        self.assertEqual(run.status, 66, run.output)
        self.assertIn("::error file=app.cu,line=", run.output)
        log = json.loads(run.uploaded.read_text(encoding="utf-8"))
        self.assertEqual(log["version"], "2.1.0")
        self.assertEqual([result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in log["runs"][0]["results"]],
                         ["app.cu"])

    def test_no_race_passes(self):
        run = self.action(path=str(self.prefix), command="./fixed > output; grep result output", options="--strict --seeds 2")
        self.assertEqual((run.status, run.steps), (0, ["Install", "Look for races", "Upload", "Result"]), run.output)
        self.assertEqual(json.loads(run.uploaded.read_text(encoding="utf-8"))["runs"][0]["results"], [])

    def test_a_release_from_an_address_without_an_upload(self):
        run = self.action(tarball=self.tarball.as_uri(), command="./app", upload="false", sarif="elsewhere.sarif", options="")
        self.assertEqual((run.status, run.uploaded), (66, None), run.output)
        self.assertTrue((self.repository / "elsewhere.sarif").exists())

    def test_what_goes_wrong_fails(self):
        self.assertEqual(self.action(command="./app").status, 64)
        self.assertEqual(self.action(path=str(self.prefix), command="false").status, 1)
        self.assertNotEqual(self.action(tarball="file:///nowhere.tar.gz", command="./app").status, 0)
        run = self.action(path=str(self.prefix), command="./app", options="--no-such-option", sarif="none.sarif")
        self.assertEqual((run.status, run.uploaded), (64, None), run.output)

    def test_the_documented_use_is_one(self):
        [use] = [step for step in self.with_action["jobs"]["races"]["steps"] if "with" in step]
        run = self.action(**{**use["with"], "tarball": str(self.tarball)})
        self.assertEqual(run.status, 66, run.output)

    def test_the_steps_without_the_action(self):
        shutil.copytree(self.prefix, self.repository / "barracuda", symlinks=True, ignore=shutil.ignore_patterns("programs"))
        self.addCleanup(shutil.rmtree, self.repository / "barracuda")
        result = self.shell(self.without_action[0]["run"])
        self.assertEqual(result.returncode, 66, result.stdout)
        self.assertTrue((self.repository / self.without_action[1]["with"]["sarif_file"]).exists())

    def test_gitlab(self):
        job = self.gitlab["races"]
        self.addCleanup(shutil.rmtree, self.repository / "barracuda")
        result = self.shell("\n".join(job["before_script"] + job["script"]), BARRACUDA_TARBALL=self.tarball.as_uri())
        self.assertEqual(result.returncode, 66, result.stdout)
        suite = tree.parse(self.repository / job["artifacts"]["reports"]["junit"]).getroot().find("testsuite")
        self.assertEqual(suite.get("failures"), "1")
        for path in job["artifacts"]["paths"]:
            self.assertIn("<html", (self.repository / path).read_text(encoding="utf-8"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--prefix", type=Path)
    parser.parse_args(namespace=arguments)
    arguments.build = arguments.build.resolve()
    if yaml is None or shutil.which("curl") is None:
        print("skipped: PyYAML or curl is not installed (tools/install_packages.sh page)")
        return 77
    return 0 if unittest.main(argv=sys.argv[:1], exit=False).result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
