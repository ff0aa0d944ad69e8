import { mount } from 'svelte';
import App from './App.svelte';
import { clock } from './clock.svelte';
import { followLinks } from './route.svelte';
import { theme } from './theme.svelte';
import './style/colours.css';
import './style/base.css';
import './style/controls.css';

theme.start();
clock.start();
followLinks();

const target = document.getElementById('app');
if (target) mount(App, { target });
