import axe, { type RunOptions } from 'axe-core'
import type { Page } from 'playwright-core'

/** The rules whose result depends on colors. */
const OF_COLORS = ['color-contrast', 'link-in-text-block']

/** What axe complains about, as rule and element: in the light scheme, and about the colors of the dark one. */
export async function complaintsOfAxe(page: Page): Promise<string[]> {
  const light = await violations(page)
  await page.emulateMedia({ colorScheme: 'dark' })
  const dark = await violations(page, { runOnly: OF_COLORS })
  await page.emulateMedia({ colorScheme: 'light' })
  return [...light, ...dark.map(each => `dark ${each}`)]
}

/** In the page itself, which has no frames, and without what passed: that takes a fifth of the time of axe's own driver. */
async function violations(page: Page, options: RunOptions = {}): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe.source)
  return page.evaluate(
    async given => {
      const found = await (globalThis as unknown as { axe: typeof axe }).axe.run(given)
      return found.violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id} ${String(target)}`))
    },
    { ...options, resultTypes: ['violations'], preload: false } satisfies RunOptions,
  )
}
