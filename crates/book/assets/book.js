// Colours, the menu of narrow windows, and the search. Nothing is asked of anybody but the server that has the book.
const { root, index } = document.currentScript.dataset;

const THEMES = { system: 'as the system', light: 'light', dark: 'dark' };
const theme = document.getElementById('theme');
const current = () => document.documentElement.dataset.theme ?? 'system';
const showTheme = () => {
  theme.textContent = `Colours: ${THEMES[current()]}`;
};
theme.addEventListener('click', () => {
  const names = Object.keys(THEMES);
  const next = names[(names.indexOf(current()) + 1) % names.length];
  if (next === 'system') {
    localStorage.removeItem('abide-theme');
    delete document.documentElement.dataset.theme;
  } else {
    localStorage.setItem('abide-theme', next);
    document.documentElement.dataset.theme = next;
  }
  showTheme();
});
showTheme();

const menu = document.getElementById('menu');
menu.addEventListener('click', () => {
  const open = document.body.classList.toggle('menu-open');
  menu.setAttribute('aria-expanded', String(open));
});
document.querySelector('#chapters [aria-current]')?.scrollIntoView({ block: 'center' });

const input = document.querySelector('#search input');
const list = document.querySelector('#search ol');
let sections;

/** How well a section fits all words: a word in the heading counts most; 0 if one is missing. */
function score([, page, heading, text], words) {
  const [title, head, body] = [page.toLowerCase(), heading.toLowerCase(), text.toLowerCase()];
  let sum = 0;
  for (const word of words) {
    const found = (head.includes(word) ? 8 : 0) + (title.includes(word) ? 4 : 0) + Math.min(3, body.split(word).length - 1);
    if (found === 0) return 0;
    sum += found + (head === word ? 10 : 0);
  }
  return sum;
}

/** The text around the first word, with all words marked. */
function excerpt(text, words) {
  const near = Math.max(0, text.toLowerCase().indexOf(words[0]) - 40);
  const at = near > 0 ? text.indexOf(' ', near) + 1 : 0;
  const end = text.length > at + 140 ? text.lastIndexOf(' ', at + 140) : text.length;
  const part = (at > 0 ? '… ' : '') + text.slice(at, Math.max(end, at)) + (end < text.length ? ' …' : '');
  const node = document.createElement('small');
  const cut = new RegExp(`(${words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|')})`, 'i');
  for (const [number, piece] of part.split(cut).entries()) {
    if (number % 2 === 0) node.append(piece);
    else node.append(Object.assign(document.createElement('mark'), { textContent: piece }));
  }
  return node;
}

async function search() {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  sections ??= fetch(index).then((answer) => answer.json());
  const all = await sections;
  const found = words.length === 0 ? [] : all.map((section) => [score(section, words), section]).filter(([points]) => points > 0);
  found.sort((a, b) => b[0] - a[0]);
  const items = found.slice(0, 20).map(([, [url, page, heading, text]]) => {
    const link = Object.assign(document.createElement('a'), { href: root + url });
    const place = heading && heading !== page ? `${page} › ${heading}` : page;
    link.append(Object.assign(document.createElement('b'), { textContent: place }), excerpt(text, words));
    const item = document.createElement('li');
    item.append(link);
    return item;
  });
  if (items.length === 0 && words.length > 0) items.push(Object.assign(document.createElement('li'), { textContent: 'Nothing has all of these words.' }));
  list.replaceChildren(...items);
  list.hidden = words.length === 0;
}

input.addEventListener('input', search);
input.addEventListener('focus', search);
document.addEventListener('click', (event) => {
  if (!event.target.closest('#search')) list.hidden = true;
});
document.addEventListener('keydown', (event) => {
  const typing = event.target.matches('input, textarea');
  if (event.key === '/' && !typing) {
    event.preventDefault();
    input.focus();
  }
  if (event.key === 'Escape') {
    list.hidden = true;
    input.blur();
  }
  if (event.target.closest?.('#search') && ['ArrowDown', 'ArrowUp'].includes(event.key)) {
    event.preventDefault();
    const stops = [input, ...list.querySelectorAll('a')];
    const step = event.key === 'ArrowDown' ? 1 : -1;
    stops[(stops.indexOf(document.activeElement) + step + stops.length) % stops.length].focus();
  }
});
