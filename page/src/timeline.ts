// The strip at the foot: how much was said when, and a slider to any moment of it.
import type { Pictured } from "./api.ts";
import { clear, type Shade } from "./colours.ts";
import { byId } from "./html.ts";

const STEPS = 1000; // of the slider

export class Timeline {
  first = 0;
  last = 0;
  private turns: number[] = [];
  private readonly bars = byId<HTMLCanvasElement>("bars");
  private readonly slider = byId<HTMLInputElement>("slider");

  constructor(moved: (at: number | null) => void) {
    this.slider.max = String(STEPS);
    this.slider.addEventListener("input", () => moved(this.at));
    new ResizeObserver(() => this.shade && this.draw(this.shade)).observe(this.bars);
  }

  private shade: Shade | null = null;

  /** The span of the whole memory: from a picture of the present. */
  span(activity: Pictured["activity"]): void {
    this.first = activity.first;
    this.last = Math.max(activity.last, activity.first + 1);
    this.turns = activity.turns;
  }

  /** The time that is chosen, ms; null at the right end, the present. */
  get at(): number | null {
    const step = Number(this.slider.value);
    return step >= STEPS ? null : Math.round(this.first + ((this.last - this.first) * step) / STEPS);
  }

  set at(at: number | null) {
    this.slider.value = String(at === null ? STEPS : Math.round(((at - this.first) / (this.last - this.first)) * STEPS));
  }

  draw(shade: Shade): void {
    this.shade = shade;
    const ratio = devicePixelRatio || 1;
    const { clientWidth: width, clientHeight: height } = this.bars;
    this.bars.width = width * ratio;
    this.bars.height = height * ratio;
    const context = this.bars.getContext("2d")!;
    context.scale(ratio, ratio);
    const most = Math.max(...this.turns, 1);
    const chosen = this.at ?? Number.POSITIVE_INFINITY;
    const wide = width / Math.max(1, this.turns.length);
    this.turns.forEach((count, part) => {
      if (!count) return;
      const time = this.first + ((this.last - this.first) * part) / this.turns.length;
      const tall = Math.max(3, (height - 4) * Math.sqrt(count / most));
      context.fillStyle = time <= chosen ? clear(shade.awake, 0.8) : clear(shade.faint, 0.35);
      context.beginPath();
      context.roundRect(part * wide + 0.5, height - tall, Math.max(1.5, wide - 1.5), tall, 2);
      context.fill();
    });
  }
}
