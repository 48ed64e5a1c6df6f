// A picture of the page while it plays: node scripts/picture.mjs FILE.jpg
import { chooseScene, openPage, openPlace, waitFor } from '../tests/browser.mjs';

const [file] = process.argv.slice(2);
const place = await openPlace();
try {
  const page = await openPage(place, { viewport: { width: 1240, height: 760 }, colorScheme: 'light' });
  await chooseScene(page, 'table');
  await waitFor(page, () => window.hooke.sides()[0].time > 1.6, null, 60000);
  await page.screenshot({ path: file, type: 'jpeg', quality: 78 });
} finally {
  await place.close();
}
