import { approvalHash } from '../../src/checks/approval.ts'
import type { Place } from '../../src/checks/program.ts'
import { runCheck } from '../../src/checks/run-check.ts'
import type { RunnableSpec } from '../../src/core/proof/check.ts'
import { redactor } from '../../src/core/text/redact.ts'

// A program that runs one check and prints its result, to be bundled.
const { place, spec } = JSON.parse(process.argv[2] ?? '') as { place: Place; spec: RunnableSpec }
const check = { ...spec, id: 'c1', hash: approvalHash(spec, place) }
const options = { ...place, dataFolder: '/nowhere', protect: ['**/*.test.js'], redact: redactor() }
process.stdout.write(JSON.stringify(await runCheck(check, options)))
