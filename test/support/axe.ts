import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from 'playwright-core'

/** The rules whose result depends on colors. */
const OF_COLORS = ['color-contrast', 'link-in-text-block']

/** What axe complains about, as rule and element: in the light scheme, and about the colors of the dark one. */
export async function complaintsOfAxe(page: Page): Promise<string[]> {
  // In the page itself, which has no frames: otherwise each look opens another page.
  const light = await new AxeBuilder({ page }).setLegacyMode().analyze()
  await page.emulateMedia({ colorScheme: 'dark' })
  const dark = await new AxeBuilder({ page }).setLegacyMode().withRules(OF_COLORS).analyze()
  await page.emulateMedia({ colorScheme: 'light' })
  return [light, dark].flatMap(({ violations }, scheme) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${scheme ? 'dark ' : ''}${id} ${String(target)}`)),
  )
}
