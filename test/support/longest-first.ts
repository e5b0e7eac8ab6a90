import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that take longest, in this order. */
const LONGEST = [
  'test/browser/panels-review.test.ts',
  'test/browser/chat.test.ts',
  'test/mcp/process.test.ts',
  'test/trust.test.ts',
  'test/browser/conversations.test.ts',
  'test/browser/panels-plan.test.ts',
  'test/browser/settings.test.ts',
  'test/faults/claims-live.test.ts',
  'test/browser/access.test.ts',
  'test/browser/calls.test.ts',
  'test/browser/panels-proof.test.ts',
  'test/cli.test.ts',
  'test/setup.test.ts',
  'test/settings.test.ts',
  'test/package/pack.test.ts',
  'test/faults/claims-place.test.ts',
]

/** Starts long files first, so that none is left for the end, even without the durations of an earlier run. */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rest = await super.sort(files)
    const first = LONGEST.flatMap(path => rest.filter(({ moduleId }) => moduleId.endsWith(path)))
    return [...first, ...rest.filter(file => !first.includes(file))]
  }
}
