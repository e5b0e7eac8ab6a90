import type { Place } from '../../src/checks/program.ts'
import { runCommand } from '../../src/checks/run-command.ts'
import { redactor } from '../../src/core/text/redact.ts'

/** What the process runs. */
export interface CheckOrder {
  readonly place: Place
  readonly words: readonly string[]
}

// A process of ours that runs a check, to be killed. Says when it begins, and whatever the check prints.
const { place, words } = JSON.parse(process.argv[2] ?? '') as CheckOrder
process.stdout.write('begins\n')
const onOutput = (tail: () => string): boolean => process.stdout.write(tail())
const { result } = await runCommand({ kind: 'command', run: words }, place, { redact: redactor(), onOutput })
process.stdout.write(`${result}\n`)
