import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from 'playwright-core'

/** The rules whose result depends on colors. */
const OF_COLORS = ['color-contrast', 'link-in-text-block']

/** What axe complains about, as rule and element: by every rule in the light scheme, by those of colors in the dark one. */
export async function complaintsOfAxe(page: Page, colorScheme: 'light' | 'dark'): Promise<string[]> {
  // In the page itself, which has no frames: otherwise each look opens another page.
  const axe = new AxeBuilder({ page }).setLegacyMode()
  const { violations } = await (colorScheme === 'dark' ? axe.withRules(OF_COLORS) : axe).analyze()
  return violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id} ${String(target)}`))
}
