import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that take longest, in this order; the first waits 75 s for a reviewer. */
const LONGEST = [
  'test/mcp/long-waits.test.ts',
  'test/cli.test.ts',
  'test/browser/access.test.ts',
  'test/browser/panels-review.test.ts',
  'test/browser/panels-plan.test.ts',
  'test/mcp/inspector.test.ts',
  'test/door.test.ts',
  'test/faults/kill.test.ts',
]

/** Starts long files first, so that none is left for the end, even without the durations of an earlier run. */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rest = await super.sort(files)
    const first = LONGEST.flatMap(path => rest.filter(({ moduleId }) => moduleId.endsWith(path)))
    return [...first, ...rest.filter(file => !first.includes(file))]
  }
}
