import { pino } from 'pino'
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { createHttpServer, type HttpServer, type ServerOptions } from '../../src/server/http/server.ts'
import type { PolicyPatch } from '../../src/core/model/policy.ts'
import type { Review, ReviewRequest } from '../../src/core/model/review.ts'
import type { Task } from '../../src/core/model/task.ts'
import { builtPage } from '../support/page.ts'
import { startServer, type TestServer, TOKENS } from '../support/server.ts'

/** Polling for a browser on a busy machine. */
export const SLOW_BROWSER = { timeout: 15_000, interval: 40 } as const

/** A row of the agent's plan, or just its title. */
export type Proposed = string | Readonly<Record<string, unknown>>

/** A server with the page, an external agent, and windows on one conversation. */
export class Panels {
  readonly browser: Browser
  readonly server: TestServer
  readonly session = 'c'
  #http: HttpServer
  readonly #contexts: BrowserContext[] = []
  readonly problems: string[] = []

  constructor(browser: Browser, server: TestServer) {
    this.browser = browser
    this.server = server
    this.#http = server.server
  }

  static async open(browser: Browser, host: PolicyPatch = {}): Promise<Panels> {
    return new Panels(browser, await startServer({ page: builtPage, host, store: 'sqlite' }))
  }

  /** A signed-in window; windows of one context share their storage. Its clock may be off by some minutes. */
  async window(options: BrowserContextOptions & { in?: BrowserContext; minutesAhead?: number } = {}): Promise<Page> {
    const { in: shared, minutesAhead = 0, ...more } = options
    const context = shared ?? (await this.browser.newContext({ viewport: { width: 1280, height: 800 }, ...more }))
    if (!shared) this.#contexts.push(context)
    const page = await context.newPage()
    await page.addInitScript(by => {
      const { now } = Date
      Date.now = () => now() + by
    }, minutesAhead * 60_000)
    page.setDefaultTimeout(SLOW_BROWSER.timeout)
    page.on('pageerror', error => this.problems.push(String(error)))
    await page.goto(`${this.server.url.href}?chat=${this.session}#code=${this.#http.loginCode()}`)
    return page
  }

  /** The agent's `plan` call; with review on it resolves once the review is decided. */
  async plan(...tasks: readonly Proposed[]): Promise<unknown> {
    const rows = tasks.map(task => (typeof task === 'string' ? { title: task } : task))
    return this.#call('plan', { tasks: rows })
  }

  /** The agent's `tasks` call. */
  async look(): Promise<unknown> {
    return this.#call('tasks', {})
  }

  async update(id: number, more: Record<string, unknown> = {}): Promise<unknown> {
    return this.#call('update', { id, outcome: 'As asked.', ...more })
  }

  async tasks(): Promise<readonly Task[]> {
    return (await this.server.person.tasks(this.session)).tasks
  }

  async titles(): Promise<string[]> {
    return (await this.tasks()).map(({ title }) => title)
  }

  async statusOf(title: string): Promise<string | undefined> {
    return (await this.tasks()).find(task => task.title === title)?.status
  }

  async pending(): Promise<readonly ReviewRequest[]> {
    return (await this.server.person.pendingReviews(this.session)).reviews
  }

  /** The windows that show the pending review. */
  async showing(): Promise<Pick<Review, 'panels' | 'closes_at'> | undefined> {
    const { conversation } = await this.server.person.snapshot(this.session)
    return conversation.reviews[conversation.pending_reviews[0] ?? '']
  }

  async stopServer(): Promise<void> {
    await this.#http.close(0)
  }

  /** Starts the server again on the same port. */
  async startAgain(more: Partial<ServerOptions> = {}): Promise<void> {
    const { door, url } = this.server
    const log = pino({ level: 'silent' })
    this.#http = createHttpServer({
      door,
      tokens: TOKENS,
      tenant: 'local',
      version: '0',
      log,
      page: builtPage,
      ...more,
    })
    await this.#http.listen(Number(url.port), '127.0.0.1')
  }

  async close(): Promise<void> {
    for (const context of this.#contexts) await context.close()
    if (this.#http !== this.server.server) await this.#http.close(0)
    await this.server.close()
    expect(this.problems).toEqual([])
  }

  async #call(tool: string, input: unknown): Promise<unknown> {
    const call = { session_id: this.session, turn_id: 't', arguments: input }
    const answer = await this.server.agent.call('runsheet', tool, call)
    return 'result' in answer ? answer.result : answer
  }
}

/** Waits until the elements of a locator have these texts. */
export const says = (locator: Locator, texts: readonly string[]): Promise<void> =>
  expect.poll(() => locator.allInnerTexts(), SLOW_BROWSER).toEqual(texts)

/** Waits until the fields of a locator have these values. */
export const holds = (locator: Locator, values: readonly string[]): Promise<void> =>
  expect
    .poll(() => locator.evaluateAll(fields => fields.map(field => (field as HTMLInputElement).value)), SLOW_BROWSER)
    .toEqual(values)

/** Waits until an element has the focus. */
export const hasFocus = (locator: Locator): Promise<void> =>
  expect.poll(() => locator.evaluate(element => element === document.activeElement), SLOW_BROWSER).toBe(true)

/** Drags with a finger from the middle of one element to the middle of another. */
export async function dragByTouch(page: Page, from: Locator, to: Locator): Promise<void> {
  const middle = async (locator: Locator): Promise<{ x: number; y: number }> => {
    const { x, y, width, height } = await boxOf(locator)
    return { x: x + width / 2, y: y + height / 2 }
  }
  const [begin, end] = [await middle(from), await middle(to)]
  const hand = await page.context().newCDPSession(page)
  const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', ...touchPoints: { x: number; y: number }[]) =>
    hand.send('Input.dispatchTouchEvent', { type, touchPoints })
  await touch('touchStart', begin)
  for (const part of [0.25, 0.5, 0.75, 1]) {
    await touch('touchMove', { x: end.x, y: begin.y + (end.y - begin.y) * part })
  }
  await touch('touchEnd')
  await hand.detach()
}

export const boxOf = async (locator: Locator): Promise<{ x: number; y: number; width: number; height: number }> => {
  const box = await locator.boundingBox()
  if (!box) throw new Error('the element is not visible')
  return box
}
