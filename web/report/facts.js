'use strict';
/* Tables and texts: everything goes in as text, never as HTML. */

function setText(id, text) {
  document.getElementById(id).textContent = text;
}

function addRow(body, label, value, small) {
  const row = body.insertRow(),
    head = document.createElement('th'),
    cell = document.createElement('td');
  head.scope = 'row';
  head.textContent = label;
  cell.textContent = value;
  if (small) {
    const note = document.createElement('small');
    note.textContent = small;
    cell.append(note);
  }
  row.append(head, cell);
}

/* low to high with its unit, or one number where they are the same. */
function rangeText(low, high, unit) {
  const text = low === high ? numberText(low) : `${numberText(low)} to ${numberText(high)}`;
  return unit ? `${text} ${unit}` : text;
}

function sum(values) {
  return values.reduce((total, value) => total + value, 0);
}

function fillScene() {
  const body = document.getElementById('table-scene'),
    m = facts.model;
  addRow(body, 'Bodies', countText(m.bodies));
  addRow(body, 'Vertices', `${countText(m.vertices)}, ${countText(m.pinned)} pinned`);
  addRow(body, 'Springs', countText(m.springs));
  if (m.faces > 0) addRow(body, 'Faces', `${countText(m.faces)} triangles`);
  addRow(body, 'Dimensions', String(m.dimension));
  addRow(body, 'Mass', `${numberText(m.mass)} kg`);
  addRow(body, 'Of a vertex', rangeText(m.mass_min, m.mass_max, 'kg'));
  if (m.springs > 0) {
    addRow(body, 'Stiffness', rangeText(m.k_min, m.k_max, 'N/m'));
    addRow(body, 'Rest length', rangeText(m.length_min, m.length_max, 'm'));
  }
  const size = m.box_max.map((high, c) => numberText(high - m.box_min[c], 3)).slice(0, m.dimension);
  addRow(body, 'Size at the start', `${size.join(' × ')} m`);
  addRow(body, 'Up', 'xyz'[m.up]);
}

function stableText(step, stability) {
  if (step === null) return `any: ${stability}`;
  return step > 0 ? `below ${numberText(step)} s` : 'none';
}

function fillRun() {
  const body = document.getElementById('table-run'),
    r = facts.run;
  const seconds = sum(rows.seconds),
    steps = sum(rows.steps),
    frames = sum(rows.frames);
  const first = rows.time[0],
    last = rows.time[rows.count - 1];
  addRow(
    body,
    'Frames',
    `${countText(r.frame)} of ${countText(r.frames)}, ${numberText(1 / r.interval)} a second`,
  );
  addRow(body, 'Time simulated', rangeText(first, last, 's'));
  addRow(body, 'Step', `${numberText(r.step)} s, ${countText(r.steps_per_frame)} a frame`);
  addRow(body, 'Stable step', stableText(r.stable_step, r.stability));
  if (r.halvings > 0) addRow(body, 'Step halved', `${countText(r.halvings)} times, after blow-ups`);
  if (steps > 0) {
    addRow(body, 'Steps', countText(steps));
    if (seconds > 0) {
      addRow(body, 'Time to compute', durationText(seconds), 'without writing files');
      addRow(body, 'A frame', durationText(seconds / Math.max(1, frames)));
      addRow(body, 'A step', durationText(seconds / steps));
      addRow(body, 'Speed', `${numberText((last - first) / seconds, 3)} s of motion in a second`);
    }
    if (sum(rows.unconverged) > 0)
      addRow(
        body,
        'Not converged',
        `${countText(sum(rows.unconverged))} steps: their equations are not met to the tolerance`,
      );
  }
  addRow(body, 'Largest strain', `${numberText(100 * Math.max(...finite(rows.strain_max)), 3)} %`);
  addRow(body, 'Largest speed', `${numberText(Math.max(...finite(rows.speed_max)), 3)} m/s`);
  if (rows.contacts.some((value) => value > 0)) {
    addRow(body, 'Contacts', `${countText(Math.max(...finite(rows.contacts)))} at most in a frame`);
    const gaps = rows.least_gap.filter(Number.isFinite);
    addRow(body, 'Least gap', `${numberText(1000 * Math.min(...gaps), 3)} mm`);
  }
}

function finite(values) {
  return [0, ...values.filter(Number.isFinite)];
}

function fillMachine() {
  const body = document.getElementById('table-machine'),
    m = facts.machine;
  const vectors = {avx512: 'AVX-512', avx2: 'AVX2', portable: 'portable vectors'};
  addRow(body, 'Processor', m.processor);
  addRow(body, 'Threads', `${m.threads} of ${m.cores}`);
  addRow(body, 'Instructions', vectors[m.vectors] || m.vectors);
  addRow(body, 'System', m.system);
  addRow(body, 'Hooke', facts.hooke);
  addRow(body, 'Date', facts.date);
}

function valueText(value) {
  if (typeof value === 'number') return numberText(value, 6);
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) return `(${value.map(valueText).join(', ')})`;
  return String(value);
}

function fillMethods() {
  const parent = document.getElementById('methods');
  for (const method of facts.methods) {
    const card = document.createElement('article'),
      title = document.createElement('h3');
    const family = document.createElement('span'),
      summary = document.createElement('p');
    card.className = 'method';
    family.textContent = method.family;
    title.append(method.name, family);
    summary.textContent = method.summary;
    card.append(title, summary);
    if (method.formula) {
      const formula = document.createElement('code');
      formula.className = 'formula';
      formula.textContent = method.formula;
      card.append(formula);
    }
    if (method.params.length > 0) {
      const table = document.createElement('table'),
        body = table.createTBody();
      for (const p of method.params) {
        const unit =
          p.unit && p.unit !== '1' ? ` ${p.unit.replace('^2', '²').replace('^3', '³')}` : '';
        addRow(body, p.name, valueText(p.value) + unit, p.help);
      }
      card.append(table);
    }
    parent.append(card);
  }
}

function statusText() {
  const {status, run} = facts;
  if (status === 'done') return 'done';
  if (status === 'blowup') return 'blew up';
  if (status === 'failed') return 'failed';
  return `stopped at frame ${countText(run.frame)} of ${countText(run.frames)}`;
}

function fillHead() {
  const {model, run, methods} = facts,
    badge = document.getElementById('status');
  setText('version', facts.hooke);
  setText('repeat-version', facts.hooke);
  setText('date', facts.date);
  badge.textContent = statusText();
  badge.classList.add(facts.status);
  const parts = [
    `${countText(model.vertices)} ${model.vertices === 1 ? 'vertex' : 'vertices'}`,
    `${countText(model.springs)} ${model.springs === 1 ? 'spring' : 'springs'}`,
    `${numberText(run.frame * run.interval)} s of motion`,
  ];
  if (methods.length > 0) parts.push(methods[0].name.replace(/_/g, ' '));
  parts.push(facts.date);
  setText('summary', parts.join(' · '));
  if (!facts.message) return;
  const message = document.getElementById('message');
  message.textContent =
    facts.status === 'blowup'
      ? `${facts.message[0].toUpperCase()}${facts.message.slice(1)}. The frames before it are below.`
      : `The run ended with an error: ${facts.message}. What came before is below.`;
  message.hidden = false;
}

/* JSON with lists of numbers and short objects on one line. */
function layOut(value, indent = '') {
  const flat = JSON.stringify(value),
    inner = `${indent}  `;
  if (value === null || typeof value !== 'object' || flat.length < 3) return flat;
  if (
    flat.length + indent.length < 96 ||
    (Array.isArray(value) && value.every((one) => typeof one === 'number'))
  )
    return flat.replace(/("(?:[^"\\]|\\.)*")|([,:])/g, (all, text, mark) => text || `${mark} `);
  const parts = Array.isArray(value)
    ? value.map((one) => layOut(one, inner))
    : Object.entries(value).map(([key, one]) => `${JSON.stringify(key)}: ${layOut(one, inner)}`);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return `${open}\n${parts.map((part) => inner + part).join(',\n')}\n${indent}${close}`;
}

/* A text that was cut cannot be read, and stays as it is. */
function sceneText() {
  try {
    return layOut(JSON.parse(facts.scene));
  } catch {
    return facts.scene;
  }
}

function fillTexts() {
  const notes = document.getElementById('notes');
  for (const text of facts.notes) {
    const item = document.createElement('li');
    item.textContent = text;
    notes.append(item);
  }
  setText('command', facts.command || 'hooke run run.json');
  setText('scene', sceneText());
  const cut = facts.scene_bytes > facts.scene.length + 4 && facts.scene_bytes > 200000;
  setText(
    'scene-note',
    cut
      ? `Only its beginning: the whole scene, ${countText(facts.scene_bytes)} bytes, stands in run.json.`
      : '',
  );
  if (facts.source) setText('source', facts.source);
  else document.getElementById('source-part').hidden = true;
}

/* Copies a text; true where that worked. Pages from the disk may have no clipboard of their own. */
async function copyText(element) {
  try {
    await navigator.clipboard.writeText(element.textContent);
    return true;
  } catch {
    const selection = window.getSelection(),
      range = document.createRange();
    range.selectNodeContents(element);
    selection.removeAllRanges();
    selection.addRange(range);
    return document.execCommand('copy');
  }
}

function fillFacts() {
  fillHead();
  fillScene();
  fillRun();
  fillMachine();
  fillMethods();
  fillTexts();
  const button = document.getElementById('copy');
  button.addEventListener('click', async () => {
    button.textContent = (await copyText(document.getElementById('command'))) ? 'Copied' : 'Marked';
    setTimeout(() => {
      button.textContent = 'Copy';
    }, 1500);
  });
}
