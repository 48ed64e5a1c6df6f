// The time step, with what is stable, and how fast the page plays.
import type { App } from '../app';
import type { Side } from '../side';
import { SPEED_RANGE } from '../state';
import { type Control, makeControl } from './controls';
import { h, prettyNumber } from './dom';
import { assignment } from './method_control';
import { ParamList } from './param_list';
import { partSchema } from './parts';

export class StepSection {
  readonly element = h('div', {});
  private step: Control | null = null;
  private rest: ParamList | null = null;
  private note = h('p', { class: 'note', role: 'status' });
  private auto = h('button', { class: 'text-button', type: 'button' }, 'Let Hooke pick');

  constructor(private app: App) {
    this.auto.addEventListener('click', () => app.change(['time.step=0']));
  }

  private build(side: Side): void {
    const { app } = this;
    const params = partSchema(app, 'time').params;
    const step = params.find((param) => param.name === 'step');
    if (step)
      this.step = makeControl({ ...step, min: 1e-6, max: 1 }, side.info!.step,
        (value) => app.change([assignment('time.step', value)]));
    // A page plays for as long as one looks; how long and how often to write is for runs into files.
    const others = params.filter((param) => ['energy_bound', 'tolerance'].includes(param.name));
    this.rest = new ParamList(others, side.scene!.time,
      (name, value) => app.change([assignment(`time.${name}`, value)]), { first: () => false });
    const speed = makeControl({
      name: 'playing speed', unit: '1', help: 'simulated seconds per second; below 1 is slow motion',
      kind: 'number', default: 1, min: SPEED_RANGE[0], max: SPEED_RANGE[1],
    }, 1, (value) => app.settings.set({ speed: value as number }))!;
    app.settings.watch((now) => speed.update(now.speed));
    this.element.append(
      ...(this.step ? [this.step.element] : []), this.note, this.auto, speed.element, this.rest.element);
  }

  update(side: Side): void {
    if (!side.info || !side.scene) return;
    if (!this.rest) this.build(side);
    const { step, stable_step: stable } = side.info;
    this.step?.update(step);
    this.rest!.update(side.scene.time);
    this.auto.hidden = !Number(side.scene.time.step ?? 0);
    const above = stable !== null && step > stable;
    this.note.classList.toggle('warning', above);
    if (stable === null) this.note.textContent = `There is no largest step: ${side.info.stability}.`;
    else if (stable === 0) this.note.textContent = 'No step is stable with this method here: it gains energy at every one.';
    else this.note.textContent = above
      ? `Above the largest stable step, ${prettyNumber(stable)} s: it will blow up.`
      : `The largest stable step is ${prettyNumber(stable)} s.`;
  }
}
