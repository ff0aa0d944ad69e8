// Before anything is drawn: the colours that were chosen in this browser, here or in the dashboard.
const chosen = localStorage.getItem('abide-theme');
if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen;
