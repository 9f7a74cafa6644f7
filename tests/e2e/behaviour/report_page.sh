# The page of HTML in a browser: no error in its console, filters, keys and labels that work. Without Debian's
# chromium it is skipped.
. "$(dirname "$0")/expect.sh"
browser=$(command -v chromium || command -v chromium-browser) || exit 77

run "$barracuda" run --device cpu --html "$folder/page.html" -- "$programs/shared_sum_race"
expect_status 66 "html"

# What a user does, and what is to be seen then, as a line of text that --dump-dom prints.
cat "$folder/page.html" - >"$folder/used.html" <<'PAGE'
<script>
const said = [];
const check = (what, holds) => said.push(`${holds ? "ok" : "WRONG"}: ${what}`);
const shown = () => by("list").querySelectorAll("button").length;
const type = (id, value) => { by(id).value = value; by(id).dispatchEvent(new Event("input")); };
check("the first bug is shown", by("detail").textContent.includes("intra-block race on shared memory"));
check("its line is marked", document.querySelector("pre .here").textContent.includes("partial[thread] +="));
check("both threads are drawn", document.querySelectorAll("svg rect.first").length >= 1 && document.querySelectorAll("svg rect.second").length === 2);
const grid = document.querySelector(".grids svg");
check("one block has both threads", grid.querySelectorAll("rect.lane").length === 4 && grid.querySelectorAll("rect.first, rect.second").length === 2);
const lines = [...document.querySelectorAll(".times ol")];
check("a line of time for each side", lines.length === 2 && lines.every(line => line.getAttribute("aria-label").startsWith("thread [")));
check("each ends in its access", lines.every(line => line.querySelectorAll("li.access").length === 1));
check("it has the barrier", lines.some(line => [...line.querySelectorAll("li.sync")].some(step => step.textContent.includes("__syncthreads();"))));
check("what only expose and fix find is not offered", by("weak").parentNode.hidden && by("repair").parentNode.hidden);
check("nothing is wider than its place", [...document.querySelectorAll(".side, .times")].every(part => part.scrollWidth <= part.clientWidth + 1));
type("search", "no such file");
check("the search leaves it out", shown() === 0);
type("search", "SHARED_SUM_RACE.cu");
check("the search finds it", shown() === 1);
type("kind", "intra-block");
check("the kind is known", shown() === 1);
type("search", "");
by("coverage").click();
check("coverage is complete", by("detail").textContent.includes("Coverage complete"));
check("the current page is told", by("coverage").getAttribute("aria-current") === "true");
document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "j", bubbles: true}));
check("j goes to the first bug", document.activeElement.bug === bugs[0] && current === bugs[0]);
const controls = [...document.querySelectorAll("input, select")];
check("every control has a label", controls.length === 4 && controls.every(control => control.labels.length === 1));
check("every picture has words", [...document.querySelectorAll("svg")].every(picture => picture.getAttribute("aria-label")));
document.title = said.join("\n");
</script>
PAGE
browse() {  # PAGE, how many checks
  run timeout 120 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$folder/profile" \
    --enable-logging=stderr --virtual-time-budget=5000 --dump-dom "file://$1"
  expect_status 0 "the browser"
  expect_no_err 'CONSOLE'
  ! grep -q '^WRONG\|>WRONG' "$folder/out" || fail "the page $1"
  [ "$(sed -n '/<title>/,/<\/title>/p' "$folder/out" | grep -c 'ok: ')" -eq "$2" ] || fail "not all was tried of $1"
}
browse "$folder/used.html" 17

# Blocks in their grids: one of few blocks, one of many, two of different launches, made of what that one has.
run "$barracuda" run --device cpu --html "$folder/blocks.html" -- "$programs/grid_exchange_race"
expect_status 66 "html"
cat "$folder/blocks.html" - >"$folder/grids.html" <<'PAGE'
<script>
const said = [];
const check = (what, holds) => said.push(`${holds ? "ok" : "WRONG"}: ${what}`);
const grids = () => [...document.querySelectorAll(".grids svg")];
const at = (picture, side) => { const box = picture.querySelector(`rect.${side}`); return [Number(box.getAttribute("x")), Number(box.getAttribute("y"))]; };
const [picture] = grids(), [x, y, z] = bugs[0].accesses[0].grid;
check("each block is drawn", picture.querySelectorAll("rect.lane").length === x * y * z && x * y * z > 1);
check("two of them are marked apart", at(picture, "first").join() !== at(picture, "second").join());
check("it says which", bugs[0].accesses.every(access => picture.getAttribute("aria-label").includes(`block [${access.block.join(",")}]`)));
const changed = change => { const bug = structuredClone(bugs[0]); bug.accesses.forEach(change); show(bug); return grids(); };
const [planes] = changed((access, i) => { access.grid = [3, 2, 2]; access.block = [2, 1, i]; });
check("planes lie below each other", planes.querySelectorAll("rect.lane").length === 12 && at(planes, "first")[0] === at(planes, "second")[0]
  && at(planes, "second")[1] - at(planes, "first")[1] === 2 * Number(planes.querySelector("rect.box").getAttribute("height")) / 4);
const [large] = changed((access, i) => { access.grid = [100000, 700, 1]; access.block = [i ? 99999 : 0, i ? 699 : 0, 0]; });
check("a large one is drawn smaller", large.querySelectorAll("rect").length === 3 && large.textContent.includes("drawn smaller"));
check("its last block is in its corner", at(large, "second").every((value, i) => value < [632, 300][i]) && at(large, "second")[0] > at(large, "first")[0]);
const two = changed((access, i) => { access.launch = i + 1; });
check("two launches have a picture each", two.length === 2 && two[0].querySelector("rect.first") !== null && two[1].querySelector("rect.second") !== null);
check("who is no thread has none", changed(access => { delete access.thread; }).length === 0);
document.title = said.join("\n");
</script>
PAGE
browse "$folder/grids.html" 8

# What expose and fix have found, each on a page of its own.
cd "$folder" || exit 1
run "$barracuda" expose --html "$folder/weak.html" -- "$programs/handover_race"
expect_status 66 "expose"
cat weak.html - >weak_used.html <<'PAGE'
<script>
const said = [];
const check = (what, holds) => said.push(`${holds ? "ok" : "WRONG"}: ${what}`);
show(bugs.find(bug => bug.severity === "error"));
check("the race is shown with its effect", by("detail").textContent.includes("harmful"));
check("there is no repair", by("repair").parentNode.hidden);
by("weak").click();
check("the failure is shown", by("detail").textContent.includes("of 20 runs failed"));
check("the fence is named with its line", /__threadfence\(\) behind .*handover\.cu:\d+/.test(by("detail").textContent));
check("the current page is told", by("weak").getAttribute("aria-current") === "true" && by("coverage").getAttribute("aria-current") === "false");
document.title = said.join("\n");
</script>
PAGE
browse "$folder/weak_used.html" 5
run "$barracuda" fix --seeds 2 --per-race 0 --html "$folder/fix.html" -- "$programs/handover_race"
expect_status 66 "fix"
cat fix.html - >fix_used.html <<'PAGE'
<script>
const said = [];
const check = (what, holds) => said.push(`${holds ? "ok" : "WRONG"}: ${what}`);
check("there is no weak memory", by("weak").parentNode.hidden);
by("repair").click();
check("the edit is shown", /__threadfence\(\).*handover\.cu:\d+/.test(by("detail").textContent));
check("the diff has a line more", [...document.querySelectorAll("pre .added")].some(line => line.textContent.includes("__threadfence();")));
check("it has a name", document.querySelector("pre[aria-label='proposed change of the source']") !== null);
document.title = said.join("\n");
</script>
PAGE
browse "$folder/fix_used.html" 4
finish
