import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** A worker serves files of one project in a row: another project needs a new worker, which loads everything again. */
const PROJECTS = ['browser', 'edge', 'store', 'alone', 'unit']

/** Files that take longest. */
const LONGEST = [
  'test/browser/panels-review.test.ts',
  'test/browser/chat.test.ts',
  'test/browser/panels-plan.test.ts',
  'test/browser/settings.test.ts',
  'test/browser/conversations.test.ts',
  'test/browser/access.test.ts',
  'test/browser/calls.test.ts',
  'test/browser/messages.test.ts',
  'test/mcp/process.test.ts',
  'test/trust.test.ts',
  'test/cli.test.ts',
  'test/setup.test.ts',
  'test/settings.test.ts',
  'test/package/pack.test.ts',
  'test/http/bad-input.test.ts',
  'test/faults/claims-live.test.ts',
  'test/faults/claims-place.test.ts',
]

/** Starts long files first, so that none is left for the end, even without the durations of an earlier run. */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const rank = ({ project, moduleId }: TestSpecification): number => {
      const place = LONGEST.findIndex(path => moduleId.endsWith(path))
      return PROJECTS.indexOf(project.name) * LONGEST.length + (place < 0 ? LONGEST.length - 0.5 : place)
    }
    return sorted.toSorted((a, b) => rank(a) - rank(b))
  }
}
