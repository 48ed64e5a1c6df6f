/* The eye circles a target at a distance. With the axes right, up and front of the scene, azimuth a and
 * elevation e, the unit vectors of the view are
 *
 *     side    =  cos a right                - sin a front
 *     upward  = -sin e sin a right + cos e up - sin e cos a front
 *     back    =  cos e sin a right + sin e up + cos e cos a front      from the target to the eye
 */

/** @typedef {[number, number, number]} Triple */

/** rad, from the lower to the upper edge of the view. */
const FIELD = (35 * Math.PI) / 180;
/** rad, the largest elevation: looking straight down, the view has no side. */
const STEEPEST = Math.PI / 2 - 0.01;
/** Smallest and largest distance, in sizes of what is looked at. */
const DISTANCES = [1e-3, 1e3];

/** @param {Triple} a @param {Triple} b */
function dotProduct(a, b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

export class Orbit {
  constructor() {
    /** Half the height of the view at distance 1. */
    this.slope = Math.tan(FIELD / 2);
    this.azimuth = 0; /* rad, 0: from the front */
    this.elevation = 0; /* rad, 0: level */
    this.distance = 3; /* m */
    this.size = 1; /* m, of what is looked at */
    /** @type {Triple} */
    this.target = [0, 0, 0];
    /** @type {Triple} */
    this.right = [1, 0, 0];
    /** @type {Triple} */
    this.up = [0, 1, 0];
    /** @type {Triple} */
    this.front = [0, 0, 1];
  }

  /** @param {number} axis 0, 1 or 2: the one that points up */
  setUp(axis) {
    this.right = axis === 0 ? [0, -1, 0] : [1, 0, 0];
    this.up = [axis === 0 ? 1 : 0, axis === 1 ? 1 : 0, axis === 2 ? 1 : 0];
    this.front = axis === 2 ? [0, -1, 0] : [0, 0, 1];
  }

  /** Looks at a model as usual: a flat one from the front, others from a little aside and above. @param {boolean} flat */
  look(flat) {
    this.azimuth = flat ? 0 : 0.55;
    this.elevation = flat ? 0 : 0.28;
  }

  /** Side, upward and back. @returns {[Triple, Triple, Triple]} */
  basis() {
    const {right, up, front} = this;
    const ca = Math.cos(this.azimuth),
      sa = Math.sin(this.azimuth);
    const ce = Math.cos(this.elevation),
      se = Math.sin(this.elevation);
    /** @type {(r: number, u: number, f: number) => Triple} */
    const sum = (r, u, f) => [
      r * right[0] + u * up[0] + f * front[0],
      r * right[1] + u * up[1] + f * front[1],
      r * right[2] + u * up[2] + f * front[2],
    ];
    return [sum(ca, 0, -sa), sum(-se * sa, ce, -se * ca), sum(ce * sa, se, ce * ca)];
  }

  /**
   * The smallest distance from which all corners of a box about the target are in the view.
   * @param {Triple} half half the edges of the box, m
   * @param {number} aspect width of the view over its height
   * @param {number[]} margin width and height of the view, in widths and heights of what it shows
   */
  distanceFor(half, aspect, margin) {
    const [side, upward, back] = this.basis();
    let distance = 0;
    for (let corner = 0; corner < 8; corner++) {
      /** @type {Triple} */
      const x = [
        corner & 1 ? half[0] : -half[0],
        corner & 2 ? half[1] : -half[1],
        corner & 4 ? half[2] : -half[2],
      ];
      const across = Math.max(
        (margin[0] * Math.abs(dotProduct(side, x))) / aspect,
        margin[1] * Math.abs(dotProduct(upward, x)),
      );
      distance = Math.max(distance, across / this.slope + dotProduct(back, x));
    }
    return distance;
  }

  /** @returns {Triple} */
  eye() {
    const back = this.basis()[2],
      {target, distance} = this;
    return [target[0] + distance * back[0], target[1] + distance * back[1], target[2] + distance * back[2]];
  }

  /** By angles in rad. @param {number} dx @param {number} dy */
  turn(dx, dy) {
    this.azimuth -= dx;
    this.elevation = Math.max(-STEEPEST, Math.min(STEEPEST, this.elevation + dy));
  }

  /** By parts of the height of the view. @param {number} dx @param {number} dy */
  move(dx, dy) {
    const [side, upward] = this.basis(),
      reach = 2 * this.slope * this.distance;
    for (let c = 0; c < 3; c++) this.target[c] -= reach * (dx * side[c] - dy * upward[c]);
  }

  /** @param {number} factor of the distance */
  zoom(factor) {
    this.distance = Math.max(
      DISTANCES[0] * this.size,
      Math.min(DISTANCES[1] * this.size, this.distance * factor),
    );
  }
}
