import { lstatSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { OutsideTool } from '../outside.ts'

/** The demo's project: a function with two bugs, and a test that shows them. It needs only Node. */
export const SANDBOX_FILES: Readonly<Record<string, string>> = {
  'README.md': `# The demo's sandbox

A project with a bug and a test. Ask the demo model: "Fix the greeting in the sandbox, and prove it".
To start over, delete this folder and start Runsheet again.
`,
  'greeting.mjs': `/** Greets by name, or as a stranger if no name is given. */
export function greet(name) {
  return \`Helo, \${name}!\`
}
`,
  'greeting.test.mjs': `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { greet } from './greeting.mjs'

test('greets by name', () => {
  assert.equal(greet('Ada'), 'Hello, Ada!')
})

test('greets as a stranger if no name is given', () => {
  assert.equal(greet(), 'Hello, stranger!')
})
`,
}

/** The file to fix, its check, and the demo model's tools for it. */
export const SANDBOX = {
  file: 'greeting.mjs',
  check: 'node --test',
  read: 'read_sandbox_file',
  edit: 'edit_sandbox_file',
} as const

const MAX_BYTES = 100_000

/** Tools that read and edit files of a sandbox, and nothing outside it. Both return the file's text. */
export const sandboxTools = (folder: string): readonly OutsideTool[] => [
  {
    name: SANDBOX.read,
    description: "Reads a file of the demo's sandbox.",
    inputSchema: object({ path: TEXT }),
    isRepeatable: true,
    call: async input => readFileSync(fileIn(folder, field(input, 'path')), 'utf8'),
  },
  {
    name: SANDBOX.edit,
    description: "Replaces a text in a file of the demo's sandbox.",
    inputSchema: object({ path: TEXT, find: TEXT, replace: TEXT }),
    isRepeatable: true,
    call: async input => {
      const [file, find, replace] = [
        fileIn(folder, field(input, 'path')),
        field(input, 'find'),
        field(input, 'replace'),
      ]
      const text = readFileSync(file, 'utf8')
      // The same call already made this change.
      if (!text.includes(find) && text.includes(replace)) return text
      if (!text.includes(find)) throw new Error(`The file does not contain ${JSON.stringify(find)}.`)
      const changed = text.replace(find, () => replace)
      writeFileSync(file, changed)
      return changed
    },
  },
]

const TEXT = { type: 'string' } as const

const object = (properties: Readonly<Record<string, unknown>>): OutsideTool['inputSchema'] => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
})

function field(input: unknown, name: string): string {
  const value = typeof input === 'object' && input !== null ? (input as Record<string, unknown>)[name] : undefined
  if (typeof value === 'string' && value !== '') return value
  throw new Error(`${name} must be a text.`)
}

/** A plain name: no folders, which could lead out, and no links. */
function fileIn(folder: string, name: string): string {
  const file = join(folder, name)
  const stats = /^\w[\w.-]*$/.test(name) ? lstatSync(file, { throwIfNoEntry: false }) : undefined
  if (!stats?.isFile()) throw new Error(`The sandbox has no file ${JSON.stringify(name)}.`)
  if (stats.size > MAX_BYTES) throw new Error(`${name} is too large.`)
  return file
}
