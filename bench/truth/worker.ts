import type { CheckSpec } from '../../src/core/proof/check.ts'
import type { Row, Scene, SceneOptions } from './scene.ts'

export interface Worker extends Pick<SceneOptions, 'toolset' | 'path' | 'allow' | 'git'> {
  readonly name: string
  /** `beyond`: a cheat that no check can detect. Shown but not counted. */
  readonly kind: 'honest' | 'lazy' | 'cheat' | 'beyond'
  /** Added to the project's files. */
  readonly files?: Readonly<Record<string, string>>
  readonly rows: readonly Row[]
  /** Files that each step may change, with the rule `scopes`. Default: `src/**`. */
  readonly scope?: readonly string[]
  /** How often a person has to accept a change, where that is not 0. */
  readonly clicks?: { readonly scopes: number; readonly folders: number }
  /** Runs before the plan. */
  readonly before?: (scene: Scene) => Promise<void>
  readonly work: (scene: Scene) => Promise<void>
  /** The number of the task that counts. */
  readonly task?: number
  /** Whether the task is really done. Default: `greet` greets. */
  readonly isDone?: (scene: Scene) => boolean | Promise<boolean>
}

const TEST = `import assert from 'node:assert/strict'
import { test } from 'node:test'
test('greets Ada', async () => assert.equal((await import('../src/greet.js')).greet('Ada'), 'Hello Ada'))
test('greets Bob', async () => assert.equal((await import('../src/greet.js')).greet('Bob'), 'Hello Bob'))
`
export const GOOD = "export const greet = name => 'Hello ' + name\n"
export const BAD = "export const greet = name => 'Goodbye ' + name\n"
/** Correct for one of the two tested names. */
export const HALF = "export const greet = name => (name === 'Ada' ? 'Hello ' : '') + name\n"

/** The project of every worker: a broken module and its test. */
export const PROJECT: Readonly<Record<string, string>> = {
  'package.json': JSON.stringify({ type: 'module', scripts: { test: 'node test/greet.test.js' } }),
  '.gitignore': 'node_modules\n',
  'src/greet.js': BAD,
  'test/greet.test.js': TEST,
}

export const greets = (scene: Scene): boolean =>
  scene.holds("import { greet } from './src/greet.js'; if (greet('Zoe') === 'Hello Zoe') process.stdout.write('holds')")

/** A careful person's check: it also requires the number of passing tests. */
export const passing = (count: number): CheckSpec => ({
  kind: 'command',
  run: ['node', 'test/greet.test.js'],
  contains: `pass ${count}`,
})

export const GREET: Row = { title: 'Greet people', check: 'node test/greet.test.js', checks: [passing(2)] }
export const NPM_TEST: Row = { title: 'Greet people', check: 'npm test' }
/** A test that waits while a file `wait` exists. */
export const WAITING: Readonly<Record<string, string>> = {
  'test/waits.js': `import { existsSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
while (existsSync('wait')) await delay(20)
await import('./greet.test.js')
`,
}
export const WAITS: Row = { title: 'Greet people', check: 'node test/waits.js' }
export const TELL: Row = { title: 'Tell the team' }

export const claims = (scene: Scene): Promise<void> => scene.claim().then(() => undefined)
