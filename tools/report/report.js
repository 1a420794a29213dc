/* SPDX-License-Identifier: MIT */
/* report.js - draw a recording: its data are JSON in the page, and never become HTML */
'use strict';
(function () {

const root = document.documentElement;
window.addEventListener('error', (e) => { root.dataset.state = 'failed: ' + e.message; });

const data = JSON.parse(document.getElementById('data').textContent);
const SLICE = 8, WAIT = 4; /* numbers in each slice and each wait */
const MOST_LANES = 16, LANE = 9, HEAD = 17, GAP = 4;

const view = { from: 0, to: data.span, group: 0 };
const redraws = [];

/* ---- small parts ---- */

function element(name, text, className) {
	const e = document.createElement(name);
	if (text !== undefined)
		e.textContent = text;
	if (className)
		e.className = className;
	return e;
}

function byId(id) {
	return document.getElementById(id);
}

function span(ns) {
	if (ns === 0)
		return '0';
	for (const [unit, size] of [['s', 1e9], ['ms', 1e6], ['µs', 1e3]])
		if (Math.abs(ns) >= size)
			return Number((ns / size).toPrecision(3)) + ' ' + unit;
	return Math.round(ns) + ' ns';
}

/* A time, with as many digits as the visible range needs. */
function moment(ns) {
	const [unit, size] = data.span >= 1e9 ? ['s', 1e9] : data.span >= 1e6 ? ['ms', 1e6] : ['µs', 1e3];
	const digits = Math.ceil(Math.log10(size / (view.to - view.from))) + 2;
	return (ns / size).toFixed(Math.min(9, Math.max(0, digits))) + ' ' + unit;
}

function bytes(n) {
	const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
	let i = 0;
	for (; n >= 1024 && i + 1 < units.length; i++)
		n /= 1024;
	return Number(n.toPrecision(3)) + ' ' + units[i];
}

function count(n) {
	return Math.round(n).toLocaleString('en').replace(/,/g, '\u202f');
}

function few(n) {
	return n >= 1000 ? count(n) : String(Number(n.toPrecision(3)));
}

function color(name) {
	return getComputedStyle(root).getPropertyValue(name).trim();
}

function clamp(x, least, most) {
	return Math.min(most, Math.max(least, x));
}

/* ---- head ---- */

function showFacts() {
	const facts = byId('facts');
	const add = (name, value) => {
		const box = element('div');
		box.append(element('dt', name), element('dd', value));
		facts.append(box);
	};
	const jobs = data.groups[0].jobs;
	add('Recorded', data.begun);
	add('For', span(data.span));
	add('Machine', data.machine + ' (' + data.system + ')');
	add('Cores', data.cpus + ' × ' + (data.cpu || '?'));
	add('Jobs', count(jobs) + (data.span ? ', ' + few(jobs / data.span * 1e9) + ' a second' : ''));
	add('Failed', count(data.groups[0].failed));
	add('Sessions', count(data.sessions));
	if (data.ended) {
		add('Recording took', (data.recorderWall ? (100 * data.recorderCpu / data.recorderWall).toFixed(1) : '0') +
			' % of a core' + (jobs ? ', ' + span(data.recorderCpu / jobs) + ' a job' : ''));
		add('Its file', bytes(data.bytes));
	}
	add('Quoit', data.version);
}

/* ---- the verdict ---- */

function percent(part, whole) {
	return Math.round(100 * part / whole) + ' %';
}

/* Mean number of busy cores; negative: there are no samples. */
function busyCores() {
	const time = data.cores.known.reduce((sum, v) => sum + v, 0);
	if (!time || !data.cores.cores)
		return -1;
	const bins = data.cores.known.filter((v) => v > 0).length;
	let sum = 0;
	data.cores.known.forEach((v, i) => { sum += v > 0 ? data.cores.tiles[i] + data.cores.reacting[i] : 0; });
	return sum / bins;
}

const remedies = {
	'running': 'faster operations, or more cores for each, would help most',
	'waiting for data of other jobs': 'the jobs depend on each other: other jobs that can run beside them would help most',
	'waiting for memory': 'a larger lease, or less memory in use at once, would help most',
	'waiting for a core or device': 'there are more jobs than cores or devices can run at once: more of these would help most',
};

/*
 * Where programs acquired what jobs waited for, if that was so for half of the time with open jobs:
 * the place, and its part of all time; else null.  Rows of data.held: place, holds, ns in which it
 * held anything, ns in which jobs waited for that.
 */
function held() {
	const open = data.groups[0].open.filter((n) => n > 0).length / data.bins;
	const all = data.held.reduce((total, h) => total + h[3], 0);
	if (!all || all < open * data.span / 2)
		return null;
	const most = data.held.reduce((a, b) => b[3] > a[3] ? b : a);
	return most[0] + ' for ' + percent(Math.min(most[3], data.span), data.span) + ' of the time';
}

/*
 * For what sessions did nothing but wait at services, locks and their kin, if that was so for half of
 * the time in which they had open jobs: what most, its part of all such time, and the part of that in
 * the time with open jobs; else null.  Rows of data.named: what, times, ns of the waits, ns in which
 * nothing else went on.
 */
function others() {
	const open = data.groups.slice(1).reduce((total, g) => total + g.open.filter((n) => n > 0).length, 0);
	const all = data.named.reduce((total, n) => total + n[3], 0), time = open / data.bins * data.span;
	if (!all || all < time / 2)
		return null;
	const most = data.named.reduce((a, b) => b[3] > a[3] ? b : a);
	return [most[0], percent(most[3], all), percent(Math.min(all, time), time)];
}

/* One sentence that says where the time of all jobs went. */
function verdict() {
	const all = data.operations.filter((o) => o[0] === 0);
	const sum = (i) => all.reduce((total, o) => total + o[i], 0);
	const parts = [['running', sum(5)], ['waiting for data of other jobs', sum(9)],
		['waiting for memory', sum(10)], ['waiting for a core or device', sum(11)]];
	const time = parts.reduce((total, [, ns]) => total + ns, 0);
	const busy = busyCores(), cores = busy < 0 ? '' : `; of ${data.cores.cores} cores ${few(busy)} were busy on average`;
	if (!data.groups[0].jobs)
		return 'No job was recorded.';
	const failed = data.groups[0].failed ? `${count(data.groups[0].failed)} of ${count(data.groups[0].jobs)} jobs failed. ` : '';
	const waits = others();
	if (waits)
		return `${failed}Sessions did nothing but wait for others for ${waits[2]} of the time with open jobs` +
			`${cores}. ${waits[1]} of that are ${waits[0]}: what the others do there would help most.`;
	if (!time)
		return failed + 'The recording does not tell how long jobs ran or waited' + cores + '.';
	const [what, ns] = parts.reduce((a, b) => b[1] > a[1] ? b : a);
	const place = what === parts[1][0] ? held() : null;
	if (place)
		return `${failed}Jobs spent most of their time waiting for data (${percent(ns, time)})${cores}. ` +
			`It was held by the program at ${place}: to release it before other work would help most.`;
	const longest = all.reduce((a, b) => b[5] > a[5] ? b : a);
	const of = what === 'running' ? `, ${longest[1]} ${percent(longest[5], sum(5))} of that` : '';
	return `${failed}Jobs spent most of their time ${what} (${percent(ns, time)}${of})${cores}: ${remedies[what]}.`;
}

function showVerdict() {
	byId('verdict').textContent = verdict();
}

function showNotes() {
	const list = byId('notes');
	const note = (condition, text) => {
		if (condition)
			list.append(element('li', text));
	};
	note(!data.ended, 'The recording ends early: its recorder was killed, or the disk was full.');
	note(data.daemonDied, 'quoitd ended during the recording.');
	note(data.dropped, count(data.dropped) + ' jobs came too fast and were not recorded: the figures are of the others.');
	note(data.lost, count(data.lost) + ' records were lost, since the recorder read too late.');
	note(data.unwritten, count(data.unwritten) + ' records found no room in the file.');
	note(data.eventsDropped, count(data.eventsDropped) + ' notes of clients were dropped: waits may be missing.');
	note(data.damaged, count(data.damaged) + ' records are invalid and were left out.');
	note(data.slicesShown < data.jobs, 'The timeline has the ' + count(data.slicesShown) + ' longest of ' +
		count(data.jobs) + ' jobs; the strip above each track has all.');
	note(data.trackless, count(data.trackless) + ' jobs are on tracks beyond those shown.');
}

/* ---- the timeline: placing items ---- */

/* Put a track's items into lanes: in the order of their begins, each into the first free lane. */
function layOut(track) {
	const items = track.items, ends = [];
	items.sort((a, b) => a.begin - b.begin);
	for (const item of items) {
		let lane = 0;
		while (lane < ends.length && ends[lane] > item.begin)
			lane++;
		item.lane = Math.min(lane, MOST_LANES - 1);
		ends[item.lane] = Math.max(ends[item.lane] || 0, item.end);
	}
	track.lanes = ends.length;
	track.most = Math.max(...track.density, 0);
}

function makeTracks() {
	for (const track of data.tracks)
		track.items = [];
	for (let i = 0; i < data.slices.length; i += SLICE) {
		const [ring, place, , fetch, wait, run, post] = data.slices.slice(i, i + SLICE);
		const start = fetch + wait, end = start + run;
		if (ring >= 0)
			data.tracks[ring].items.push({ at: i, begin: fetch, start, stop: end, end: end + post });
		if (place >= 0)
			data.tracks[place].items.push({ at: i, begin: start, start, stop: end, end });
	}
	for (let i = 0; i < data.waits.length; i += WAIT) {
		const [track, begin, time] = data.waits.slice(i, i + WAIT);
		if (track >= 0)
			data.tracks[track].items.push({ wait: i, begin, start: begin, stop: begin + time, end: begin + time });
	}
	const order = { ring: 0, client: 1, place: 2 };
	const byName = (a, b) => a.kind === 'place' ? a.name.localeCompare(b.name, 'en', { numeric: true }) : 0;
	data.tracks.forEach((track, index) => { track.index = index; layOut(track); });
	return data.tracks.slice().sort((a, b) =>
		(b.kind === 'place') - (a.kind === 'place') || a.group - b.group ||
		(a.session < b.session ? -1 : a.session > b.session ? 1 : 0) || order[a.kind] - order[b.kind] || byName(a, b) || a.index - b.index);
}

const tracks = makeTracks();
const canvas = byId('timeline');

/* Operations with the most time come first, and get colours that differ most. */
const hues = {};
data.operations.filter((o) => o[0] === 0).sort((a, b) => b[5] - a[5])
	.forEach((o, i) => { hues[o[1]] = (210 + i * 137.5) % 360; });

function operation(at) {
	return data.names[data.slices[at + 2]] || '?';
}

function label(track) {
	return track.kind === 'place' ? 'quoitd: ' + track.name
		: 'session ' + track.session + ' ' + track.sessionName + ': ' + track.name;
}

function shown() {
	return tracks.filter((t) => t.kind === 'place' || !view.group || t.group === view.group);
}

/* ---- the timeline: legend and axis ---- */

const LEGEND = 12;

function showLegend() {
	const legend = byId('legend');
	const add = (text, style) => {
		const line = element('li'), mark = element('i');
		Object.assign(mark.style, style);
		line.append(mark, text);
		legend.append(line);
	};
	const names = Object.keys(hues);
	for (const name of names.slice(0, LEGEND))
		add(name, { background: `hsl(${hues[name]} 55% var(--hue-light))` });
	if (names.length > LEGEND)
		add(`and ${names.length - LEGEND} operations more`, {});
	add('pale: it waited', { background: 'var(--ink)', opacity: 0.3 });
	add('half pale: it failed', { background: 'var(--ink)', opacity: 0.5 });
	if (data.waits.length)
		add('the program waited', { background: 'var(--two)' });
	add('strip: number of jobs at a time', { background: 'var(--one)', opacity: 0.67 });
}

/* 1, 2 or 5 times a power of ten, so that the visible range has at most this many steps. */
function step(most) {
	const least = (view.to - view.from) / most;
	const power = 10 ** Math.floor(Math.log10(least));
	return power * [1, 2, 5, 10].find((n) => n * power >= least);
}

function drawAxis() {
	const axis = byId('axis'), width = axis.parentElement.clientWidth, ratio = window.devicePixelRatio || 1;
	axis.style.height = '18px';
	axis.width = Math.round(width * ratio);
	axis.height = Math.round(18 * ratio);
	const context = axis.getContext('2d');
	context.scale(ratio, ratio);
	context.fillStyle = context.strokeStyle = color('--ink');
	context.font = '10px sans-serif';
	const every = step(Math.max(2, width / 110));
	let ticks = 0;
	for (let ns = Math.ceil(view.from / every) * every; ns <= view.to; ns += every) {
		const x = (ns - view.from) / (view.to - view.from) * width;
		context.fillRect(x, 13, 1, 5);
		context.fillText(moment(ns), clamp(x + 3, 0, width - 60), 11);
		ticks++;
	}
	axis.dataset.ticks = ticks;
}
redraws.push(drawAxis);

/* ---- the timeline: drawing ---- */

function drawStrip(context, track, y, width, x, colors) {
	const bin = data.span / data.bins;
	context.fillStyle = colors.one;
	for (let i = 0; i < data.bins; i++) {
		const a = x(i * bin), b = x((i + 1) * bin);
		if (!track.density[i] || b < 0 || a > width)
			continue;
		context.globalAlpha = 0.12 + 0.55 * track.density[i] / track.most;
		context.fillRect(a, y, Math.max(b - a, 1), HEAD - 2);
	}
	context.globalAlpha = 1;
}

/*
 * An item that shares its lane with others, because there are too many, has no room for its name.
 */
function drawItems(context, track, y, width, x, colors) {
	const last = new Array(MOST_LANES).fill(-1);
	for (const item of track.items) {
		const a = x(item.begin), b = x(item.end);
		if (b < 0 || a > width)
			continue;
		if (b - a < 0.7 && Math.floor(a) === last[item.lane])
			continue; /* another item is drawn there already */
		last[item.lane] = Math.floor(a);
		const top = y + item.lane * LANE;
		const hue = item.wait === undefined ? hues[operation(item.at)] : undefined;
		context.fillStyle = hue === undefined ? colors.two : `hsl(${hue} 55% ${colors.light})`;
		if (item.wait === undefined) {
			context.globalAlpha = 0.3;
			context.fillRect(a, top, Math.max(b - a, 0.7), LANE - 2);
			context.globalAlpha = data.slices[item.at + 7] < 0 ? 0.5 : 1;
		}
		context.fillRect(x(item.start), top, Math.max(x(item.stop) - x(item.start), 0.7), LANE - 2);
		context.globalAlpha = 1;
		if (b - a > 60 && item.lane < MOST_LANES - 1) {
			context.fillStyle = colors.ink;
			context.font = '8px sans-serif';
			const left = Math.max(a, 0) + 2;
			context.fillText(item.wait === undefined ? operation(item.at) : site(track, item), left, top + LANE - 3, b - left - 2);
		}
	}
}

function drawTimeline() {
	const width = canvas.parentElement.clientWidth, list = shown();
	const height = list.reduce((sum, t) => sum + HEAD + t.lanes * LANE + GAP, GAP);
	/* Phones limit the size of a canvas. */
	const ratio = Math.min(window.devicePixelRatio || 1, 16000 / height, Math.sqrt(12e6 / (width * height)));
	canvas.style.height = height + 'px';
	canvas.width = Math.round(width * ratio);
	canvas.height = Math.round(height * ratio);
	const context = canvas.getContext('2d');
	context.scale(ratio, ratio);
	const colors = { ink: color('--ink'), one: color('--one'), two: color('--two'), light: color('--hue-light') };
	context.fillStyle = color('--paper');
	context.fillRect(0, 0, width, height);
	const x = (ns) => (ns - view.from) / (view.to - view.from) * width;
	let y = GAP;
	for (const track of list) {
		track.top = y;
		drawStrip(context, track, y, width, x, colors);
		context.fillStyle = colors.ink;
		context.font = '11px sans-serif';
		context.fillText(label(track), 4, y + HEAD - 6, width - 8);
		drawItems(context, track, y + HEAD, width, x, colors);
		y += HEAD + track.lanes * LANE + GAP;
	}
}
redraws.push(drawTimeline);

/* ---- the timeline: the item under the pointer ---- */

function site(track, item) {
	return data.sites[track.index + '/' + data.waits[item.wait + 3]] || 'an unknown place';
}

function describe(track, item) {
	if (item.wait !== undefined)
		return `The program waited ${span(item.end - item.begin)} at ${site(track, item)}, from ${moment(item.begin)} on.`;
	const [, place, , fetch, wait, run, post, res] = data.slices.slice(item.at, item.at + SLICE);
	return operation(item.at) + (res < 0 ? ` failed (errno ${-res})` : '') +
		`: fetched at ${moment(fetch)}, waited ${span(wait)}, ran ${span(run)}` +
		(place >= 0 ? ` on ${data.tracks[place].name}` : '') + `, posted ${span(post)} later.`;
}

function pointAt(clientX, clientY) {
	const box = canvas.getBoundingClientRect(), y = clientY - box.top;
	const ns = view.from + (clientX - box.left) / box.width * (view.to - view.from);
	const near = 4 / box.width * (view.to - view.from);
	const track = shown().find((t) => y >= t.top && y < t.top + HEAD + t.lanes * LANE);
	if (!track)
		return;
	const lane = Math.floor((y - track.top - HEAD) / LANE);
	let best, distance = near;
	for (const item of track.items) {
		const d = ns < item.begin ? item.begin - ns : ns > item.end ? ns - item.end : 0;
		if (item.lane === lane && d <= distance) {
			best = item;
			distance = d;
		}
	}
	const bin = clamp(Math.floor(ns / data.span * data.bins), 0, data.bins - 1);
	byId('pointed').textContent = best ? describe(track, best)
		: `${label(track)}, at ${moment(ns)}: ${few(track.density[bin])} at a time.`;
}

/* ---- moving and zooming ---- */

let queued = false;
function redraw() {
	if (queued)
		return;
	queued = true;
	requestAnimationFrame(() => {
		queued = false;
		redraws.forEach((f) => f());
	});
}

function look(from, to) {
	const width = clamp(to - from, Math.min(100, data.span), data.span);
	view.from = clamp(from, 0, data.span - width);
	view.to = view.from + width;
	redraw();
}

/* Zoom around a point of the visible range, 0 to 1. */
function zoom(factor, part = 0.5) {
	const width = view.to - view.from, at = view.from + part * width;
	look(at - part * width * factor, at + (1 - part) * width * factor);
}

function move(part) {
	const by = part * (view.to - view.from);
	look(view.from + by, view.to + by);
}

function partAt(clientX) {
	const box = canvas.getBoundingClientRect();
	return clamp((clientX - box.left) / box.width, 0, 1);
}

const pointers = new Map();
let moved = 0;

function movePointer(e) {
	const before = pointers.get(e.pointerId);
	if (!before) {
		if (e.pointerType === 'mouse')
			pointAt(e.clientX, e.clientY);
		return;
	}
	const others = [...pointers.entries()].filter(([id]) => id !== e.pointerId);
	moved += Math.abs(e.clientX - before.x);
	if (others.length) {
		const other = others[0][1].x;
		const was = Math.abs(before.x - other), is = Math.abs(e.clientX - other);
		if (was > 10 && is > 10)
			zoom(was / is, partAt((e.clientX + other) / 2));
	} else {
		move((before.x - e.clientX) / canvas.clientWidth);
	}
	pointers.set(e.pointerId, { x: e.clientX });
}

function letGo(e) {
	if (pointers.delete(e.pointerId) && !pointers.size && moved < 5 && e.type === 'pointerup')
		pointAt(e.clientX, e.clientY);
}

canvas.addEventListener('pointerdown', (e) => {
	if (!pointers.size)
		moved = 0;
	pointers.set(e.pointerId, { x: e.clientX });
	canvas.setPointerCapture(e.pointerId);
});
canvas.addEventListener('pointermove', movePointer);
canvas.addEventListener('pointerup', letGo);
canvas.addEventListener('pointercancel', letGo);
canvas.addEventListener('wheel', (e) => {
	if (e.ctrlKey || e.metaKey)
		zoom(Math.exp(e.deltaY / 300), partAt(e.clientX));
	else if (Math.abs(e.deltaX) > Math.abs(e.deltaY))
		move(e.deltaX / canvas.clientWidth);
	else
		return;
	e.preventDefault();
}, { passive: false });

const actions = {
	in: () => zoom(0.5), out: () => zoom(2), left: () => move(-0.25), right: () => move(0.25),
	whole: () => look(0, data.span),
};
const keys = { '+': 'in', '=': 'in', '-': 'out', ArrowLeft: 'left', ArrowRight: 'right', 0: 'whole', Home: 'whole' };
for (const [id, action] of Object.entries(actions))
	byId(id).addEventListener('click', action);
canvas.addEventListener('keydown', (e) => {
	if (!(e.key in keys) || e.ctrlKey || e.metaKey || e.altKey)
		return;
	actions[keys[e.key]]();
	e.preventDefault();
});

/* ---- charts ---- */

function svg(name, attributes) {
	const e = document.createElementNS('http://www.w3.org/2000/svg', name);
	for (const [key, value] of Object.entries(attributes))
		e.setAttribute(key, value);
	return e;
}

/* A path with a step for each bin. */
function pathOf(values, most, area) {
	let d = area ? 'M0 100' : '';
	values.forEach((v, i) => {
		const y = (100 - 96 * v / most).toFixed(2);
		d += `${d ? 'L' : 'M'}${i} ${y}L${i + 1} ${y}`;
	});
	return area ? d + `L${values.length} 100Z` : d;
}

/*
 * series: () => [[name, values, CSS colour], ...]; text: formats a value; ceiling: the least upper
 * end of the axis, if there is such a value.
 */
function chart(parent, series, text, ceiling = 0) {
	const figure = element('figure'), caption = element('figcaption'), plot = element('div', undefined, 'plot');
	const drawing = svg('svg', { preserveAspectRatio: 'none', role: 'img' });
	const most = element('span', '', 'most'), times = element('div', undefined, 'times');
	const begin = element('span'), end = element('span');
	times.append(begin, end);
	plot.append(drawing, most, element('span', '0', 'least'));
	figure.append(caption, plot, times);
	byId(parent).append(figure);
	let bin = -1;

	function showCaption(list) {
		caption.replaceChildren(...list.map(([name, values, variable]) => {
			const line = element('span');
			const mark = element('i');
			mark.style.background = `var(${variable})`;
			line.append(mark, name + (bin < 0 ? `, at most ${text(Math.max(...values))}` : `: ${text(values[bin])}`));
			return line;
		}));
		if (bin >= 0)
			caption.append(element('span', 'at ' + moment((bin + 0.5) * data.span / data.bins)));
	}

	function draw() {
		const list = series();
		const top = Math.max(...list.flatMap(([, values]) => values), ceiling) || 1;
		if (ceiling)
			figure.dataset.top = top;
		const scale = data.bins / data.span;
		drawing.setAttribute('viewBox', `${view.from * scale} 0 ${(view.to - view.from) * scale} 100`);
		drawing.replaceChildren();
		list.forEach(([, values, variable], i) => {
			if (!i)
				drawing.append(svg('path', { class: 'area', d: pathOf(values, top, true), style: `fill:var(${variable})` }));
			drawing.append(svg('path', { d: pathOf(values, top, false), style: `stroke:var(${variable})` }));
		});
		drawing.setAttribute('aria-label', list.map(([name, values]) => `${name}: at most ${text(Math.max(...values))}`).join(', '));
		most.textContent = text(top);
		begin.textContent = moment(view.from);
		end.textContent = moment(view.to);
		showCaption(list);
	}

	plot.addEventListener('pointermove', (e) => {
		const box = drawing.getBoundingClientRect();
		const ns = view.from + clamp((e.clientX - box.left) / box.width, 0, 1) * (view.to - view.from);
		bin = clamp(Math.floor(ns / data.span * data.bins), 0, data.bins - 1);
		showCaption(series());
	});
	plot.addEventListener('pointerleave', () => { bin = -1; showCaption(series()); });
	redraws.push(draw);
}

/* How many jobs ran at a time on all tracks that pass the test. */
function running(test) {
	const sum = new Array(data.bins).fill(0);
	for (const track of data.tracks)
		if (track.kind === 'place' && test(track.name))
			track.density.forEach((v, i) => { sum[i] += v; });
	return sum;
}

/* A row for each core; the busier with tiles, the redder. */
function coreStrip() {
	const figure = element('figure'), strip = element('canvas');
	const rows = data.cores.shares;
	figure.append(element('figcaption', 'Each core from top (CPU ' + rows[0].cpu + ') to bottom (CPU ' +
		rows[rows.length - 1].cpu + '): the darker, the busier with tiles'), strip);
	strip.style.height = clamp(rows.length * 10, 20, 400) + 'px';
	byId('cores').append(figure);
	redraws.push(() => {
		const scale = data.bins / data.span;
		const from = Math.floor(view.from * scale), to = Math.max(from + 1, Math.ceil(view.to * scale));
		strip.width = to - from;
		strip.height = rows.length;
		const context = strip.getContext('2d');
		context.fillStyle = color('--field');
		context.fillRect(0, 0, strip.width, strip.height);
		context.fillStyle = color('--one');
		rows.forEach((row, y) => {
			for (let bin = from; bin < to; bin++) {
				context.globalAlpha = clamp(row.of[bin] / 100, 0, 1);
				context.fillRect(bin - from, y, 1, 1);
			}
		});
	});
}

function makeCharts() {
	const group = () => data.groups[view.group];
	const cores = data.cores;
	if (cores.known.some((v) => v > 0)) {
		chart('cores', () => [['cores busy with tiles', cores.tiles, '--one'], ['reactors at work', cores.reacting, '--two'],
			['reactors polling', cores.polling, '--three']], few, cores.cores || data.cpus);
		if (cores.shares.length)
			coreStrip();
	} else {
		byId('cores').append(element('p', 'The recording is too short for samples of the cores; below, the jobs that ran at a time.'));
	}
	const reactors = running((name) => name.startsWith('reactor'));
	const workers = running((name) => name.startsWith('workers'));
	const others = running((name) => !name.startsWith('reactor') && !name.startsWith('workers'));
	chart('cores', () => [['jobs on cores, in tiles', workers, '--one'], ['in reactors', reactors, '--two'],
		['on devices, in modules, files', others, '--three']], few, cores.cores || data.cpus);
	chart('depth', () => [['jobs open', group().open, '--one'], ['running', group().running, '--two']], few);
	chart('depth', () => [['in submission queues', group().sq, '--one'], ['in completion queues', group().cq, '--two']], few);
	chart('memory', () => [['host', group().host, '--one'], ['devices', group().device, '--two']], bytes);
}

/* ---- tables ---- */

let sortBy = 4;

function operationsTable() {
	const titles = ['operation', 'jobs', 'failed', 'ran', 'ran in all', 'mean', 'p50', 'p99', 'longest',
		'waited for data', 'for memory', 'for a turn'];
	const rows = data.operations.filter((o) => o[0] === view.group).map((o) => {
		const [, name, jobs, failed, ran, all, p50, p99, most, forData, memory, turn] = o;
		return [name, jobs, failed, ran, all, ran ? all / ran : 0, p50, p99, most, forData, memory, turn];
	});
	rows.sort((a, b) => sortBy ? b[sortBy] - a[sortBy] : a[0] < b[0] ? -1 : 1);
	const head = element('tr');
	titles.forEach((title, i) => {
		const cell = element('th'), button = element('button', title);
		button.type = 'button';
		cell.setAttribute('aria-sort', i === sortBy ? (i ? 'descending' : 'ascending') : 'none');
		button.addEventListener('click', () => { sortBy = i; operationsTable(); });
		cell.append(button);
		head.append(cell);
	});
	byId('operations').replaceChildren(head, ...rows.map((row) => {
		const line = element('tr');
		row.forEach((value, i) => {
			const text = i === 0 ? value : i <= 3 ? count(value) : row[3] || i >= 9 ? span(value) : '-';
			line.append(element('td', text, i === 2 && value ? 'bad' : undefined));
		});
		return line;
	}));
}

function sessionsTable() {
	const head = element('tr');
	for (const title of ['session', 'name', 'PID', 'user', 'jobs', 'failed', 'dropped'])
		head.append(element('th', title));
	byId('sessions').replaceChildren(head, ...data.groups.slice(1).map((g) => {
		const line = element('tr');
		for (const text of [g.number || '', g.name, g.pid === undefined ? '' : g.pid, g.uid === undefined ? '' : g.uid,
			count(g.jobs), count(g.failed), g.dropped === undefined ? '' : count(g.dropped)])
			line.append(element('td', String(text)));
		return line;
	}));
}

function makeChoice() {
	const choice = byId('group');
	data.groups.forEach((g, i) => {
		const option = element('option', (g.number ? g.number + ' ' : '') + g.name);
		option.value = i;
		choice.append(option);
	});
	choice.addEventListener('change', () => {
		view.group = Number(choice.value);
		operationsTable();
		redraw();
	});
}

/* ---- begin ---- */

showVerdict();
showFacts();
showNotes();
showLegend();
makeChoice();
makeCharts();
operationsTable();
sessionsTable();
redraws.push(() => { byId('range').textContent = moment(view.from) + ' to ' + moment(view.to); });
redraws.forEach((f) => f());

window.addEventListener('resize', redraw);
window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
for (const name of ['beforeprint', 'afterprint'])
	window.addEventListener(name, () => redraws.forEach((f) => f()));
root.dataset.fits = document.body.scrollWidth <= root.clientWidth;
root.dataset.state = `ready: ${data.slicesShown} slices`;

})();
