import { fileURLToPath } from 'node:url'
import type { Browser, BrowserContext, BrowserContextOptions, ConsoleMessage, Page } from 'playwright-core'
import { afterAll } from 'vitest'
import { pageFrom } from '../../src/server/http/page.ts'
import { openBrowser } from './browser.ts'

/** The page as `vite build` made it. */
export const builtPage = pageFrom(fileURLToPath(new URL('../../dist/web', import.meta.url)))

let shared: Promise<Browser> | undefined

/** For the top of a test file: one browser for all files of a worker. Contexts that a file leaves open end with it. */
export async function sharedBrowser(): Promise<Browser> {
  afterAll(async () => {
    const browser = await shared
    await Promise.all(browser?.contexts().map(context => context.close()) ?? [])
  })
  return (shared ??= calmBrowser())
}

/** Without animations, each of which repaints sixty times a second. */
async function calmBrowser(): Promise<Browser> {
  const browser = await openBrowser()
  const newContext = browser.newContext.bind(browser)
  browser.newContext = options => newContext({ reducedMotion: 'reduce', ...options })
  return browser
}

/** For tests: a browser context, and every problem in any of its pages. */
export interface Visit {
  readonly context: BrowserContext
  readonly page: Page
  /** Errors on the console and in scripts, violations of the policy, dialogs, and requests to another origin. */
  readonly problems: string[]
}

export async function visit(
  browser: Browser,
  address: string | URL,
  options: BrowserContextOptions & { readonly expected?: RegExp } = {},
): Promise<Visit> {
  const { expected, ...more } = options
  const { origin } = new URL(address)
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...more })
  context.setDefaultTimeout(20_000)
  const problems: string[] = []
  const note = (problem: string): void => void (expected?.test(problem) ? undefined : problems.push(problem))
  await context.addInitScript({
    content: `document.addEventListener('securitypolicyviolation', event =>
      console.error('policy: ' + event.violatedDirective + ' ' + event.blockedURI))`,
  })
  context.on('page', page => {
    page.on('console', message =>
      message.type() === 'error' && !isLatePanel(message) ? note(message.text()) : undefined,
    )
    page.on('pageerror', error => note(String(error)))
    page.on('dialog', dialog => {
      note(`dialog: ${dialog.message()}`)
      void dialog.dismiss()
    })
  })
  context.on('request', request => {
    const url = new URL(request.url())
    if (url.origin !== origin && url.protocol !== 'data:') note(`request: ${url.href}`)
  })
  const page = await context.newPage()
  await page.goto(String(address))
  return { context, page, problems }
}

/** A decision may overtake the announcement of the panel that it was made in, which is then refused. */
const isLatePanel = (message: ConsoleMessage): boolean =>
  message.text().includes('409') && message.location().url.includes('/panels/')
