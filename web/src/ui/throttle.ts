/** Calls act at most once in so many ms. A call that comes earlier is made up for at the end of that
 * time, so that the last state is always shown. */
export function throttled(ms: number, act: () => void): () => void {
  let last = -Infinity;
  let isWaiting = false;
  const actNow = () => {
    last = performance.now();
    isWaiting = false;
    act();
  };
  return () => {
    if (isWaiting) return;
    const wait = last + ms - performance.now();
    if (wait <= 0) return actNow();
    isWaiting = true;
    setTimeout(actNow, wait);
  };
}
