import * as z from 'zod'
import type { Check } from '../domain/check.ts'
import type { CheckRecord, CheckRequest, OpenClaim, TaskProof } from '../domain/proof.ts'
import type { Standing } from '../domain/standing.ts'
import type { CheckView, SentCheck } from '../domain/wire.ts'
import { described } from './described.ts'
import { exact } from './exact.ts'

const kinds = {
  command: {
    kind: z.literal('command'),
    run: described(z.array(z.string()), 'a program and its arguments; no shell'),
    cwd: described(z.string(), 'a folder inside the workspace; default its root').exactOptional(),
    exit: described(z.int(), 'the exit code that passes; default 0').exactOptional(),
    contains: described(z.string(), 'what its output must contain').exactOptional(),
    timeout_ms: described(z.int(), 'at most 3,600,000; default 300,000').exactOptional(),
  },
  file: {
    kind: z.literal('file'),
    path: described(z.string(), 'a file inside the workspace, which must exist and not be empty'),
    contains: described(z.string(), 'what it must contain').exactOptional(),
    absent: described(z.literal(true), 'it must not exist').exactOptional(),
  },
  unchanged: {
    kind: z.literal('unchanged'),
    paths: described(z.array(z.string()), 'globs of files that must be as they were at confirmation'),
  },
  person: { kind: z.literal('person'), ask: described(z.string(), 'what a person is to look at') },
} as const

const identity = {
  id: described(z.string(), 'a UUIDv7'),
  hash: described(z.string(), 'what a person approves: all of its fields, its workspace and its program'),
  programs: described(
    z.array(z.object({ path: z.string(), file: z.string() }).nullable()),
    'the programs that the hash covers, the wrapper first; null: not found, or named by a path',
  ).exactOptional(),
  workspace: described(
    z.object({ machine: z.string(), path: z.string() }),
    'where it runs, if a person wrote it again for another folder than that of its turn',
  ).exactOptional(),
}

export const check = exact<Check>()(
  z
    .discriminatedUnion('kind', [
      z.object({ ...kinds.command, ...identity }),
      z.object({ ...kinds.file, ...identity }),
      z.object({ ...kinds.unchanged, ...identity }),
      z.object({ ...kinds.person, ...identity }),
    ])
    .meta({ id: 'Check', description: 'Something a machine runs, or a person ticks, to see whether a task is done' }),
)

const standing = {
  approved: described(z.boolean(), 'whether it runs: a person, or the configuration, approved exactly this'),
  state: described(
    z.enum(['waiting', 'running', 'passed', 'failed', 'inconclusive', 'stale']),
    'how it stands now; `stale`: it passed before the workspace changed',
  ),
  baseline: described(z.enum(['failed', 'passed', 'not_run']), 'how it stood when the plan was confirmed'),
  guarded: described(
    z.array(z.string()),
    'guarded files that changed: it proves nothing until a person accepts them',
  ).exactOptional(),
}

export const checkView = exact<CheckView>()(
  z
    .discriminatedUnion('kind', [
      z.object({ ...kinds.command, ...identity, ...standing }),
      z.object({ ...kinds.file, ...identity, ...standing }),
      z.object({ ...kinds.unchanged, ...identity, ...standing }),
      z.object({ ...kinds.person, ...identity, ...standing }),
    ])
    .meta({ id: 'CheckView', description: 'A check and how it stands' }),
)

/** Accepted and ignored, so that a check may be sent back as it was read. */
const ignored = {
  id: identity.id.exactOptional(),
  hash: described(z.string(), 'as it was read; a new check has none').exactOptional(),
  programs: identity.programs,
  workspace: identity.workspace,
  approved: standing.approved.exactOptional(),
  state: standing.state.exactOptional(),
  baseline: standing.baseline.exactOptional(),
  guarded: standing.guarded,
}

const words = described(
  z.union([z.array(z.string()), z.string()]),
  'a program and its arguments, or one command line, which is split without a shell',
)

export const sentCheck = exact<SentCheck>()(
  z
    .discriminatedUnion('kind', [
      z.strictObject({ ...kinds.command, run: words, ...ignored }),
      z.strictObject({ ...kinds.file, ...ignored }),
      z.strictObject({ ...kinds.unchanged, ...ignored }),
      z.strictObject({ ...kinds.person, ...ignored }),
    ])
    .meta({ id: 'SentCheck', description: 'A new check, or one as it was read' }),
)

const globs = described(z.array(z.string()), 'globs of guarded files that the task may change')
const hashes = described(z.array(z.string()), 'the hashes of checks that the person approves')

/** What a person may say about the checks of a task. */
export const sentChecks = {
  checks: described(z.array(sentCheck), 'all of its checks, at most 8; a new one is approved by writing it'),
  check: described(z.string(), 'short for one command in `checks`: its command line, without a shell'),
  may_change: globs,
}
export const approve = hashes

export const storedChecks = {
  checks: described(z.array(check), 'how to see whether it is done').exactOptional(),
  may_change: globs.exactOptional(),
}

export const standings = exact<Readonly<Record<Standing, number>>>()(
  z.object({ proven: z.int(), confirmed: z.int(), judged: z.int(), reported: z.int() }),
)

/** Fields of events and of the state. */
export const checkResult = described(
  z.enum(['passed', 'failed', 'inconclusive']),
  '`inconclusive`: it could not be run, or was stopped',
)
export const runReason = described(
  z.enum(['baseline', 'claim', 'final', 'person']),
  'when the plan was confirmed, for a claim, before the plan ends, or because a person asked',
)
const claimStatus = z.enum(['completed', 'cancelled'])
export const claimFields = {
  claim_id: described(z.string(), 'the claim'),
  task_id: described(z.string(), 'the task'),
  tool_call_id: described(z.string(), 'the call that claims it'),
  status: described(claimStatus, 'what is claimed'),
  outcome: described(z.string(), 'the result that is claimed'),
  seal: described(z.string(), 'a hash of the title, details, criteria and outcome that are claimed'),
  basis: described(z.int(), 'the last event that the call was based on'),
  judge: described(z.literal(true), 'a judge of the server rules on it').exactOptional(),
}
export const checkRef = {
  task_id: described(z.string(), 'the task; absent for a check of the whole plan').exactOptional(),
  check_id: described(z.string(), 'the check'),
  hash: described(z.string(), 'its content'),
}
/** What a run came to. */
export const runFields = {
  run_id: described(z.string(), 'the run'),
  why: runReason,
  result: checkResult,
  exit: described(z.int(), 'the exit code').exactOptional(),
  duration_ms: described(z.number(), 'how long it took'),
  reason: described(z.string(), 'why it is inconclusive').exactOptional(),
  changed: described(z.literal(true), 'it was not run: it is not what was approved any more').exactOptional(),
  tail: described(z.string(), 'the end of the output').exactOptional(),
  fingerprint: described(z.string(), 'a hash of the workspace').exactOptional(),
  guarded: described(z.array(z.string()), 'guarded files that differ from those at confirmation').exactOptional(),
  guard: described(z.string(), 'a hash of how they differ').exactOptional(),
}

const checkRun = z.object({ ...runFields, turn_id: z.string(), at: z.iso.datetime(), seq: z.int() })
const planRuns = z.object({
  last: checkRun,
  stood: described(checkRun, 'the pass that stands, if the last run was a repetition without a result').exactOptional(),
})
/** Hash to the runs of a check in one plan. */
export const runsByHash = z.record(z.string(), planRuns)

export const taskProof = exact<TaskProof>()(
  z.object({
    approved: described(z.array(z.string()), 'the hashes of its approved checks'),
    reworded: described(
      z.array(z.string()),
      'those that were approved for other words, which a model has changed since: they prove nothing',
    ).exactOptional(),
    baseline: described(z.record(z.string(), checkResult), 'hash to the result when the plan was confirmed'),
    ticked: described(z.array(z.string()), 'the ids of the checks that a person ticked'),
    accepted: described(z.array(z.string()), 'the changes to guarded files that a person accepted, by `guard`'),
    runs: described(runsByHash, 'hash to the runs in its plan').exactOptional(),
    spent: described(
      z.record(z.string(), z.string()),
      'hash to the task of another plan for which the check turned green meanwhile',
    ).exactOptional(),
    confirmed_in: described(
      z.string(),
      'the plan whose record of guarded files counts, if not its own',
    ).exactOptional(),
    reds: described(z.int(), 'claims that a check refused'),
    verdict: described(
      z.object({
        seq: z.int(),
        rests: z.enum(['cited', 'uncited', 'words']).exactOptional(),
        own: described(z.literal(true), "the worker's own model gave it").exactOptional(),
      }),
      'the newest ok of the judge',
    ).exactOptional(),
  }),
)
export const checkRecord = exact<CheckRecord>()(
  z.object({
    last: described(checkRun, 'the last run, in any plan').exactOptional(),
    started: z
      .object({
        run_id: z.string(),
        task_id: z.string().exactOptional(),
        check_id: z.string(),
        why: runReason,
        claim_id: z.string().exactOptional(),
        at: z.iso.datetime(),
        tries: described(z.int(), 'how often it was started without an end'),
      })
      .exactOptional(),
    guards: described(
      z.record(z.string(), checkResult),
      'plan to the result at its confirmation, where that was no failure: there it only guards',
    ).exactOptional(),
    red: described(z.boolean(), 'it failed, and no claim has seen it pass since'),
    proves: described(z.string(), 'the task whose claim saw it turn green, in the newest plan with it').exactOptional(),
    turned: described(
      z.array(z.object({ task_id: z.string(), plan_id: z.string(), gone: z.literal(true).exactOptional() })),
      'the tasks that it turned for before: in other plans, or with a text that is `gone`',
    ).exactOptional(),
  }),
)
export const openClaim = exact<OpenClaim>()(
  z.object({
    ...claimFields,
    turn_id: z.string(),
    seq: z.int(),
    at: z.iso.datetime(),
    results: described(z.record(z.string(), checkResult), 'hash to the result of its own run'),
    ended: described(z.string(), 'why no further check of it is run').exactOptional(),
  }),
)
export const checkRequest = exact<CheckRequest>()(
  z.object({ ...checkRef, turn_id: z.string(), why: z.enum(['baseline', 'final', 'person']), at: z.iso.datetime() }),
)
