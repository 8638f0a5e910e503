"""The live page's script: asks for the state again and again, and replaces what changed.

The server writes all HTML; the script makes none. A figure is redrawn in place, so that the
reader's zoom stays; focus and scroll positions stay, too. Screen readers speak the status every 20
seconds at most, and at once when it changes to ended or failed.
"""

SCRIPT = """
const EVERY = $every, SPOKEN = 20000;
const element = name => document.getElementById(name);
const parts = {};
let paused = false, ended = false, spoken = 0, state = '', version = '', due = null;

const within = (place, what) => [...place.querySelectorAll(what)];
function replaceHtml(place, html) {
  const inside = '[tabindex], summary, a, button';
  const focus = within(place, inside).indexOf(document.activeElement);
  const scrolled = within(place, '.scroll').map(one => [one.scrollLeft, one.scrollTop]);
  place.innerHTML = html;
  within(place, '.scroll').forEach((one, number) => {
    [one.scrollLeft, one.scrollTop] = scrolled[number] || [0, 0];
  });
  if (focus >= 0) within(place, inside)[focus]?.focus({preventScroll: true});
}
async function replacePart(name, html) {
  if (parts[name] === html) return;
  parts[name] = html;
  const here = element(name);
  const next = new DOMParser().parseFromString(html, 'text/html');
  const [old, figure] = [here, next].map(one => one.querySelector('figure'));
  if (!figure || !old) {
    replaceHtml(here, html);
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
async function poll() {
  if (paused) return;
  try {
    const answer = await fetch('state?version=' + version, {cache: 'no-store'});
    if (!answer.ok) throw new Error(answer.status);
    const news = await answer.json();
    if (paused) return;
    for (const [name, html] of Object.entries(news.parts)) await replacePart(name, html);
    tell(news.words, news.state !== state);
    [state, version] = [news.state, news.version];
    ended = news.ended;
    document.title = news.title;
  } catch {
    tell('There is no answer any more: the program that ran the query has ended, or has stopped '
      + 'this page. Below is what was known last.', state !== 'gone');
    state = 'gone';
  }
}
async function keepPolling() {
  clearTimeout(due);
  await poll();
  if (ended) element('pause').hidden = true;
  else if (!paused) due = setTimeout(keepPolling, state === 'gone' ? 5 * EVERY : EVERY);
}
element('pause').addEventListener('click', () => {
  paused = !paused;
  element('pause').textContent = paused ? 'Go on' : 'Pause';
  if (paused) tell('Paused: nothing on this page changes.', true);
  else keepPolling();
});
document.addEventListener('visibilitychange', () => {
  if (!document.hidden && !paused && !ended) keepPolling();
});
window.live = window.drawn.then(keepPolling);
"""
