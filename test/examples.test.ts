import { execFile } from 'node:child_process'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { ROUTES } from '../src/server/routes/index.ts'
import { toolsets } from '../src/engine/toolsets/index.ts'
import { runCli } from './support/children.ts'
import { routeTable } from './support/route-table.ts'
import { startServer, TOKENS } from './support/server.ts'
import { scratchFolder } from './support/scratch.ts'

const page = (name: string): string => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8')

/** An example, or the part of it between `// #region name` and `// #endregion`. */
const source = (name: string, region = ''): string => {
  const file = page(`examples/${name}`)
  return region === '' ? file : (new RegExp(`// #region ${region}\n([\\s\\S]*?)// #endregion`).exec(file)?.[1] ?? '')
}

it.each(['README.md', 'docs/library.md', 'docs/ai-sdk.md'])(
  'every block of code in %s is part of an example that runs here',
  name => {
    const blocks = [...page(name).matchAll(/(?:<!-- examples\/(\S+?)(?:#(\w+))? -->\n)?```ts\n([\s\S]*?)```/g)]
    expect(blocks.length).toBeGreaterThan(1)
    for (const [, example = '', region, block] of blocks) expect(block).toBe(source(example, region))
  },
)

const run = async (name: string, ...args: readonly string[]): Promise<string> => {
  const cwd = scratchFolder()
  try {
    const path = fileURLToPath(new URL(`../examples/${name}`, import.meta.url))
    // Where checks run, the machine gets a name in the configuration folder.
    const env = { ...process.env, XDG_CONFIG_HOME: cwd }
    return (await promisify(execFile)(process.execPath, [path, ...args], { cwd, env })).stdout
  } finally {
    rmSync(cwd, { recursive: true })
  }
}

it('the quickstart plans, asks, writes what was confirmed, and works it off', async () => {
  const stdout = await run('quickstart.ts')
  expect(stdout).toContain('- 1 Collect the figures (done: Twelve figures, from the ledger.)')
  expect(stdout).toContain('2 Write two pages in_progress')
  expect(stdout).toContain("status: 'incomplete'")
})

it('the tools work in the OpenAI function format', async () => {
  expect(await run('openai-format.ts')).toMatch(/"title":"Leap","order":2}\],"totalPending":2}\n$/)
})

it('the tools work as plain JSON Schema, with the context set once', async () => {
  const stdout = await run('json-schema.ts')
  expect(stdout).toMatch(/"minItems":1/)
  expect(stdout).toMatch(/Send a JSON array of objects/)
  expect(stdout).toMatch(/title: 'bread',\n\s+isChecked: false/)
})

it('the library is used as its page shows it', async () => {
  const stdout = await run('library.ts')
  expect(stdout).toContain("status: 'done'")
  expect(stdout).toContain('Task 1 is at version 2, not 1: it has changed since.\nCollect the figures 1\n')
  expect(stdout).toMatch(/\n19 true true\ntrue\n/)
  expect(stdout).toContain("removed: [ 'Look' ]")
  expect(stdout).toContain('its check `sh notes.test.sh` fails with exit code 1.')
  expect(stdout).toMatch(/\nTake notes proven\n$/)
})

it("the tools work in AI SDK's own loop, from the plan to the last answer", async () => {
  expect(await run('ai-sdk.ts')).toBe('5 steps: Looked and leapt.\n0 tasks open\n')
})

it("AI SDK's loop goes from an approved plan to red, to proven", async () => {
  expect(await run('ai-sdk-proof.ts')).toBe(`A plan of 1:
1. Write the sum to sum.txt
   check: node check.mjs
   may change: sum.txt
Approving it allows these checks to run.
The sum is in sum.txt.
Write the sum to sum.txt: proven (node check.mjs: failed before, passes now)
{ proven: 1, confirmed: 0, judged: 0, reported: 0 }
`)
})

it('a program brings its own tools, and a turn works with them', async () => {
  expect(await run('turn.ts')).toBe(
    'Look up the weather in Rome → weather answered: Sunny, 21 degrees.\nCompute 21*2 → 21 * 2 = 42\ndone\n',
  )
  const [, block] = /<!-- examples\/turn\.ts -->\n```ts\n([\s\S]*?)```/.exec(page('docs/turn.md')) ?? []
  expect(block).toBe(page('examples/turn.ts'))
})

it('a client follows a conversation and makes a call that waits for a person', async () => {
  const { url, person, close } = await startServer()
  const example = run('client.ts', url.href, TOKENS.agent)
  await expect.poll(async () => (await person.pendingReviews()).reviews).toHaveLength(1)
  const [review] = (await person.pendingReviews()).reviews
  await person.decide(review?.review_id ?? '', { action: 'confirm', tasks: [{ draft_index: 0 }] })
  const stdout = await example
  await close()
  expect(stdout).toMatch(/ids: \[ 1 \]/)
  expect(stdout).toMatch(/^(waiting|live)/)
  const [, block] = /<!-- examples\/client\.ts -->\n```ts\n([\s\S]*?)```/.exec(page('docs/http.md')) ?? []
  expect(block).toBe(page('examples/client.ts'))
})

it('the commands of docs/http.md work as printed, twice in a row, and leave nothing behind', async () => {
  const cwd = scratchFolder()
  const server = runCli(['serve', '--port', '0'], { cwd })
  try {
    const [, url = ''] = /(http:\S+)\/#/.exec(await server.line(() => true)) ?? []
    const blocks = [...page('docs/http.md').matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = '']) => block)
    // An interactive zsh takes a comment for a command.
    expect(blocks.filter(block => /(^|\s)# /m.test(block))).toEqual([])
    const script = `set -euo pipefail\n${blocks.join('\n').replaceAll('http://127.0.0.1:4747', url)}`
    for (let time = 0; time < 2; time += 1) {
      const { stdout } = await promisify(execFile)('bash', ['-c', script], { cwd })
      expect(stdout).toContain('"confirmed"')
      expect(stdout).toContain('"judged_by":"assessor"')
      expect(stdout).toContain('event: todos_updated')
    }
    expect(readdirSync(cwd)).toEqual(['.runsheet'])
  } finally {
    server.process.kill('SIGTERM')
    await server.ended
    rmSync(cwd, { recursive: true })
  }
})

it('[HT27] the table of routes in the docs is that of the OpenAPI document', () => {
  const [, table] = /<!-- routes -->\n([\s\S]*?)<!-- \/routes -->/.exec(page('docs/http.md')) ?? []
  expect(table).toBe(routeTable())
})

it('[HT27] the page about HTTP has an example of every route', () => {
  const text = page('docs/http.md').replaceAll(/\$(CHAT|REVIEW|TASK|CHECK|MESSAGE)/g, 'x')
  const missing = ROUTES.filter(({ path }) => {
    const pattern = path.replaceAll(/:\w+/g, '[\\w-]+')
    return !new RegExp(`${pattern}(?![\\w/])`).test(text)
  })
  expect(missing.map(({ path }) => path)).toEqual([])
})

it('the pages about the tools name every tool of every toolset', () => {
  for (const page of ['docs/tools.md', 'AGENTS.md']) {
    const text = readFileSync(new URL(`../${page}`, import.meta.url), 'utf8')
    for (const { name, tools } of Object.values(toolsets)) {
      for (const word of [name, ...tools.map(tool => tool.name)]) expect(text).toContain(`\`${word}\``)
    }
  }
})
