// What the screen shows while the camera of a large graph moves: the picture from which it set out, shifted and scaled.
// One image is drawn in a frame then, not thousands of links and lights; once the camera rests, all of it is drawn anew,
// and on the way wherever the picture would be too coarse, or too much of the screen lies outside it.
import type Sigma from "sigma";
import type { CameraState } from "sigma/types";
import type { Concept, Link } from "./memory.ts";

const DRAWN = ["edges", "nodes", "labels"]; // sigma's layers, from the lowest up, that a picture is made of
const UNSEEN = ["edges", "edgeLabels", "nodes", "hovers", "hoverNodes"]; // hidden while the picture stands for them
const COARSEST = 2; // times as large, or as small, as it was drawn
const FARTHEST = 0.35; // of the screen, that the camera may leave the picture's middle
const RESTS_MS = 150; // after which it is looked whether the camera rests

type Drawing = Sigma<Concept, Link>;

interface Point { x: number; y: number }

/** Where two corners of the graph lie on the screen: that tells how a picture lies to another. */
type Corners = [Point, Point];

export class Travel {
  /** Whether the frame that is being drawn is a shifted picture: then nothing of the graph itself is. */
  isShown = false;
  private moves = false;
  private waiting = 0;
  private readonly picture = document.createElement("canvas");
  private setOut: { camera: CameraState; corners: Corners } | null = null;

  constructor(private readonly isLarge: () => boolean, private readonly back: () => string) {}

  /** Decide, before a frame is drawn, whether the picture will do. */
  begin(sigma: Drawing): void {
    this.moves = this.isLarge() && moves(sigma);
    if (!this.moves) this.setOut = null;
    const shown = this.setOut !== null && isNear(this.setOut.camera, sigma.getCamera().getState());
    if (shown === this.isShown) return;
    this.isShown = shown;
    const layers = sigma.getCanvases();
    for (const name of UNSEEN) if (layers[name]) layers[name].style.visibility = shown ? "hidden" : "";
  }

  /** Finish a frame: show the picture, or, of a camera that has set out, take one. */
  end(sigma: Drawing, light: (context: CanvasRenderingContext2D) => void): void {
    if (this.isShown) return this.show(sigma);
    if (!this.moves) return;
    const layers = sigma.getCanvases();
    const { width, height } = layers["labels"]!;
    if (this.picture.width !== width || this.picture.height !== height) Object.assign(this.picture, { width, height });
    const context = this.picture.getContext("2d", { alpha: false })!;
    light(context);
    context.setTransform(1, 0, 0, 1, 0, 0);
    for (const name of DRAWN) context.drawImage(layers[name]!, 0, 0, width, height);
    this.setOut = { camera: sigma.getCamera().getState(), corners: corners(sigma) };
  }

  private show(sigma: Drawing): void {
    const canvas = sigma.getCanvases()["labels"]!;
    const context = canvas.getContext("2d")!;
    const ratio = canvas.width / sigma.getDimensions().width;
    const [[was, wasFar], [is, isFar]] = [this.setOut!.corners, corners(sigma)];
    const times = (isFar.x - is.x) / (wasFar.x - was.x);
    context.save();
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = this.back();
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.setTransform(times, 0, 0, times, (is.x - was.x * times) * ratio, (is.y - was.y * times) * ratio);
    context.drawImage(this.picture, 0, 0);
    context.restore();
    clearTimeout(this.waiting); // whoever only lets go of the mouse moves nothing more
    this.waiting = setTimeout(() => sigma.scheduleRender(), RESTS_MS);
  }
}

function moves(sigma: Drawing): boolean {
  const mouse = sigma.getMouseCaptor();
  return sigma.getCamera().isAnimated() || mouse.isMoving || mouse.draggedEvents > 0 || mouse.currentWheelDirection !== 0;
}

function corners(sigma: Drawing): Corners {
  const { x, y } = sigma.getBBox();
  return [sigma.graphToViewport({ x: x[0], y: y[0] }), sigma.graphToViewport({ x: x[0] + Math.max(x[1] - x[0], y[1] - y[0], 1), y: y[0] })];
}

/** Whether a camera is still near enough to the one of a picture. */
function isNear(picture: CameraState, now: CameraState): boolean {
  const times = picture.ratio / now.ratio;
  const away = Math.hypot(now.x - picture.x, now.y - picture.y) / picture.ratio;
  return picture.angle === now.angle && times < COARSEST && times > 1 / COARSEST && away < FARTHEST;
}
