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
check("both threads are drawn", document.querySelectorAll("svg rect.first").length >= 1 && document.querySelectorAll("svg rect.second").length === 1);
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
run timeout 120 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$folder/profile" \
  --enable-logging=stderr --virtual-time-budget=5000 --dump-dom "file://$folder/used.html"
expect_status 0 "the browser"
expect_no_err 'CONSOLE'
! grep -q '^WRONG\|>WRONG' "$folder/out" || fail "the page"
[ "$(sed -n '/<title>/,/<\/title>/p' "$folder/out" | grep -c 'ok: ')" -eq 11 ] || fail "not all was tried"
finish
