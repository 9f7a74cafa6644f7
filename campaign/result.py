"""The results of all tasks as one: JSON Lines, what is said of them, and the exit status."""

import json
from typing import NamedTuple

from folder import BAD_OPTION, FINDINGS, NOT_CHECKED, NOT_STARTED, TOOL_FAILED
from runner import death_text

# The first of these that a task ended with is the campaign's: the order of docs/REPORTS.md. A status of the user's own
# (error-exitcode) stands where findings stand.
WORST_FIRST = (BAD_OPTION, TOOL_FAILED, *NOT_STARTED, FINDINGS, NOT_CHECKED, 0)
REPORT_SCHEMA = 2  # docs/report.schema.json
EFFECTS = ("harmful", "starving", "not-shown", "not-tried")
MOST_NAMED = 20  # tasks of one kind in the text


def places(value):
    """Without what differs between two runs that met the same: addresses, threads."""
    if isinstance(value, list):
        return [places(each) for each in value]
    if isinstance(value, dict):
        own = {name: value[name] for name in ("function", "file", "line") if name in value}
        return own or {name: places(each) for name, each in value.items()}
    return None


def same(line):
    """What two lines that say the same of different runs have in common; None: each line stands for itself."""
    kind = line.get("type")
    if kind == "weak-memory-failure":
        parts = [line.get(name) for name in ("failure", "space", "kernel", "mechanism", "fences", "missing",
                                             "legal_by")]
        return json.dumps([kind, parts, places(line.get("accesses"))])
    if kind in ("missing-fence", "redundant-fence"):
        return json.dumps([kind, line.get("place"), line.get("kind"), line.get("scope")])
    if kind == "litmus-result" and line.get("device"):
        return json.dumps([kind, line.get("test"), line.get("file"), line.get("device"), line.get("condition")])
    if kind == "starvation":
        return json.dumps([kind, places(line.get("accesses"))])
    if line.get("fingerprint"):
        return json.dumps([kind, line["fingerprint"]])
    return None


def join_outcomes(known, line):
    """How a litmus test ended on a device, in the runs of both. The condition holds of all runs or of one."""
    def key(outcome):
        return json.dumps([outcome["registers"], outcome["memory"]], sort_keys=True)

    outcomes = {key(each): each for each in known["outcomes"]}
    for each in line["outcomes"]:
        if key(each) in outcomes:
            outcomes[key(each)]["count"] += each["count"]
        else:
            outcomes[key(each)] = each
    known["outcomes"] = [outcomes[name] for name in sorted(outcomes)]
    known["states"] = len(outcomes)
    # "exists" holds if it does in one task, "forall" and "~exists" if they do in all.
    decisive = "holds" if known["condition"].startswith("exists") else "does not hold"
    if decisive in (known["verdict"], line["verdict"]):
        known["verdict"] = decisive


def join(known, line):
    """Adds to a line what another one says of other runs."""
    for name in ("runs", "failures", "reference_runs", "reference_failures", "count", "tries"):
        if isinstance(known.get(name), int) and isinstance(line.get(name), int):
            known[name] += line[name]
    if isinstance(known.get("turns"), int) and isinstance(line.get("turns"), int):
        known["turns"] = max(known["turns"], line["turns"])
    if known.get("effect") in EFFECTS and line.get("effect") in EFFECTS:
        known["effect"] = min(known["effect"], line["effect"], key=EFFECTS.index)
    if known["type"] == "litmus-result":
        join_outcomes(known, line)
    evidence, other = known.get("evidence"), line.get("evidence")
    if isinstance(evidence, dict) and isinstance(other, dict):
        for name in evidence:
            if isinstance(evidence[name], int) and isinstance(other.get(name), int):
                evidence[name] += other[name]


def merge(texts):
    """Lines of all tasks in their order, as text; of those that say the same the first, with the sums of all."""
    kept, known, summaries = [], {}, []
    for text in texts:
        line = json.loads(text)
        if line.get("type") == "summary":
            summaries.append(line)
            continue
        key = same(line)
        if key is None:
            kept.append(text)
        elif key in known:
            known[key][1].append(line)
        else:
            known[key] = (line, [])
            kept.append(known[key])
    # A place that one task could not do without is needed.
    needed = {json.dumps(line["place"]) for line, _ in known.values() if line["type"] == "missing-fence"}
    lines = []
    for each in kept:
        if isinstance(each, str):
            lines.append(each)
            continue
        line, others = each
        if line["type"] == "redundant-fence" and json.dumps(line["place"]) in needed:
            continue
        for other in others:
            join(line, other)
        lines.append(dump(line))
    return lines, summary_of(summaries, lines)


def dump(line):
    return json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n"


def summary_of(summaries, lines):
    """The summary of one report of them all; None where tasks write none (explore)."""
    if not summaries:
        return None
    summary = dict(summaries[0])
    types = [json.loads(line)["type"] for line in lines]
    if "races" in summary:
        summary["races"] = types.count("race")
    if any(each.get("coverage") == "incomplete" for each in summaries):
        summary["coverage"] = "incomplete"
    if "not_covered" in summary:
        summary["not_covered"] = list(dict.fromkeys(
            gap for each in summaries for gap in each.get("not_covered") or []))
    weak = [each["weak_memory"] for each in summaries if isinstance(each.get("weak_memory"), dict)]
    if weak:
        summary["weak_memory"] = {**weak[0], **{
            "failures": types.count("weak-memory-failure"), "missing_fences": types.count("missing-fence"),
            "starvations": types.count("starvation"), "runs": sum(each.get("runs", 0) for each in weak),
            "lost": sum(each.get("lost", 0) for each in weak),
            "incomplete": any(each.get("incomplete") for each in weak)}}
    return summary


class Outcome(NamedTuple):
    lines: list
    text: str
    status: int


def worst(statuses):
    def rank(status):
        return WORST_FIRST.index(status if status in WORST_FIRST else FINDINGS)
    return min(statuses, key=rank, default=0)


def count(number, what):
    return "%d %s%s" % (number, what, "" if number == 1 else "s")


def named(tasks):
    some = ", ".join(map(str, tasks[:MOST_NAMED]))
    return some + (" and %d more" % (len(tasks) - MOST_NAMED) if len(tasks) > MOST_NAMED else "")


def what_was_found(lines, summary):
    """The part of the last line that is the command's own."""
    parsed = list(map(json.loads, lines))
    types = [line["type"] for line in parsed]
    parts = []
    if "litmus-result" in types:
        verdicts = [line["verdict"] for line in parsed if line["type"] == "litmus-result"]
        for verdict, one, several in (("holds", "verdict holds", "verdicts hold"),
                                      ("does not hold", "does not hold", "do not hold"),
                                      ("unknown", "unknown", "unknown")):
            number = verdicts.count(verdict)
            if number:
                parts.append("%d %s" % (number, one if number == 1 else several))
    for kind in ("weak-memory failure", "missing fence", "redundant fence", "starvation", "race"):
        if types.count(kind.replace(" ", "-")):
            parts.append(count(types.count(kind.replace(" ", "-")), kind))
    if summary and isinstance(summary.get("weak_memory"), dict):
        parts.append(count(summary["weak_memory"]["runs"], "run"))
    return parts


def outcome_of(campaign):
    results = list(campaign.results())
    answered = {result.task["task"] for result in results}
    lines, summary = merge(line for result in results for line in result.lines)
    events = campaign.events()
    deaths = [event for event in events if event["event"] == "died"]
    given_up = {event["task"]: event for event in events
                if event["event"] == "given up" and event["task"] not in answered}
    missing = sorted(set(campaign.tasks) - answered - set(given_up))
    statuses = [result.task["status"] for result in results]
    statuses += [TOOL_FAILED if event["status"] == TOOL_FAILED else NOT_CHECKED for event in given_up.values()]
    statuses += [NOT_CHECKED] * bool(missing)
    status = worst(statuses)

    last = {"schema": REPORT_SCHEMA, "type": "campaign-summary", "command": campaign.command, "tasks": len(campaign.tasks),
            "answered": len(answered), "given_up": sorted(given_up), "missing": missing,
            "died": [{name: event[name] for name in ("task", "attempt", "host", "reason")} for event in deaths],
            "seconds": round(sum(result.task["seconds"] for result in results), 3), "status": status}
    own = [dump(summary)] if summary else []
    text = "".join("BARRACUDA: task %d died: %s%s\n" % (
        event["task"], death_text(event), "; it was repeated" if event["task"] in answered else "") for event in deaths)
    for number, event in sorted(given_up.items()):
        text += "BARRACUDA: task %d is given up: barracuda %s\n" % (number, " ".join(campaign.tasks[number].words))
    for each in sorted(set(statuses) & {result.task["status"] for result in results} - {0}):
        these = [result.task for result in results if result.task["status"] == each]
        text += "BARRACUDA: status %d: task%s %s; what it said: %s/attempts/%d.%d/\n" % (
            each, "" if len(these) == 1 else "s", named([task["task"] for task in these]), campaign.path,
            these[0]["task"], these[0]["attempt"])
    parts = ["%d of %s answered" % (len(answered), count(len(campaign.tasks), "task"))]
    parts += ["%d given up" % len(given_up)] if given_up else []
    parts += [count(len(deaths), "death")] if deaths else []
    parts += what_was_found(lines, summary) + (["incomplete"] if given_up or missing else [])
    return Outcome(lines + own + [dump(last)], text + "BARRACUDA SUMMARY: %s\n" % ", ".join(parts), status)
