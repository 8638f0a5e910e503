"""What the page does in a browser: it asks how things stand, and exchanges the parts that changed.

All of the page's HTML is written by the server; the script makes none. A figure is drawn again in
its place, so that what its reader has zoomed to stays. An element that has the focus keeps it, and
so does what was scrolled. What changes is told to screen readers now and then, and when it matters.
"""

SCRIPT = """
const EVERY = $every, SPOKEN = 20000;
const element = name => document.getElementById(name);
const parts = {};
let paused = false, ended = false, spoken = 0, state = '', version = '', due = null;

const within = (place, what) => [...place.querySelectorAll(what)];
function exchange(place, html) {
  const inside = '[tabindex], summary, a, button';
  const focus = within(place, inside).indexOf(document.activeElement);
  const scrolled = within(place, '.scroll').map(one => [one.scrollLeft, one.scrollTop]);
  place.innerHTML = html;
  within(place, '.scroll').forEach((one, number) => {
    [one.scrollLeft, one.scrollTop] = scrolled[number] || [0, 0];
  });
  if (focus >= 0) within(place, inside)[focus]?.focus({preventScroll: true});
}
async function place(name, html) {
  if (parts[name] === html) return;
  parts[name] = html;
  const here = element(name);
  const next = new DOMParser().parseFromString(html, 'text/html');
  const [old, figure] = [here, next].map(one => one.querySelector('figure'));
  if (!figure || !old) {
    exchange(here, html);
    for (const one of within(here, '.plotly-graph-div')) await show(one);
    return;
  }
  for (const [one, other] of [[old, figure], [old.firstChild, figure.firstChild]])
    one.setAttribute('aria-label', other.getAttribute('aria-label'));
  const data = figure.querySelector('script').textContent;
  old.querySelector('script').textContent = data;
  await show(old.querySelector('.plotly-graph-div'));
}
function tell(words, now) {
  element('news').textContent = words;
  if (!now && Date.now() - spoken < SPOKEN) return;
  spoken = Date.now();
  element('spoken').textContent = words;
}
async function look() {
  if (paused) return;
  try {
    const answer = await fetch('state?version=' + version, {cache: 'no-store'});
    if (!answer.ok) throw new Error(answer.status);
    const told = await answer.json();
    if (paused) return;
    for (const [name, html] of Object.entries(told.parts)) await place(name, html);
    tell(told.words, told.state !== state);
    [state, version] = [told.state, told.version];
    ended = told.ended;
    document.title = told.title;
  } catch {
    tell('There is no answer any more: the program that ran the query has ended, or stopped this '
      + 'page. What is shown is what was known last.', state !== 'gone');
    state = 'gone';
  }
}
async function again() {
  clearTimeout(due);
  await look();
  if (ended) element('pause').hidden = true;
  else if (!paused) due = setTimeout(again, state === 'gone' ? 5 * EVERY : EVERY);
}
element('pause').addEventListener('click', () => {
  paused = !paused;
  element('pause').textContent = paused ? 'Go on' : 'Pause';
  if (paused) tell('Paused: nothing on this page changes.', true);
  else again();
});
document.addEventListener('visibilitychange', () => {
  if (!document.hidden && !paused && !ended) again();
});
window.live = window.drawn.then(again);
"""
