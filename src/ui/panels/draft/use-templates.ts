import { useEffect, useState } from 'react'
import type { Client } from '../../../client/client.ts'
import type { Template } from '../../../core/model/template.ts'
import { type EditableRow, submittedRow } from './draft.ts'
import { errorText } from '../texts/error-text.ts'
import { useStrings } from '../texts/strings.ts'

export interface TemplatesHandle {
  /** Undefined until loaded. */
  readonly templates: readonly Template[] | undefined
  readonly message: string
  readonly problem: string
  /** The template that was deleted last; `restore` saves it again. */
  readonly deleted: Template | undefined
  /** `taken` if another template has the name and may not be replaced. */
  readonly save: (
    name: string,
    rows: readonly EditableRow[],
    isReplacing: boolean,
  ) => Promise<'saved' | 'taken' | 'failed'>
  readonly rename: (name: string, to: string) => Promise<boolean>
  readonly remove: (template: Template) => Promise<void>
  readonly restore: () => Promise<void>
  readonly clear: () => void
}

export function useTemplates(client: Client): TemplatesHandle {
  const strings = useStrings()
  const [templates, setTemplates] = useState<readonly Template[]>()
  const [said, setSaid] = useState<{ message?: string; problem?: string; deleted?: Template }>({})
  const load = async (): Promise<readonly Template[]> => {
    const answer = await client.templates()
    setTemplates(answer.templates)
    return answer.templates
  }
  const fail = (error: unknown): void => setSaid({ problem: errorText(strings, error) })
  useEffect(() => void load().catch(fail), [client])
  /** Runs an action, reports it, and reloads the list, which other windows change, too. */
  const act = async (work: () => Promise<unknown>, done: typeof said): Promise<boolean> => {
    try {
      await work()
      setSaid(done)
      await load()
      return true
    } catch (error) {
      fail(error)
      return false
    }
  }
  return {
    templates,
    message: said.message ?? '',
    problem: said.problem ?? '',
    deleted: said.deleted,
    save: async (name, rows, isReplacing) => {
      const tasks = rows.map(row => ({ ...submittedRow(row), draft_index: undefined, approve: undefined }))
      const known = isReplacing ? [] : await load().catch(() => [])
      if (known.some(each => each.name === name)) {
        setSaid({ problem: strings.templates.exists(name) })
        return 'taken'
      }
      const isSaved = await act(() => client.saveTemplate(name, tasks), { message: strings.templates.saved(name) })
      return isSaved ? 'saved' : 'failed'
    },
    rename: (name, to) => act(() => client.renameTemplate(name, to), { message: strings.templates.saved(to) }),
    remove: async template => {
      const done = { message: strings.templates.removed(template.name), deleted: template }
      await act(() => client.deleteTemplate(template.name), done)
    },
    restore: async () => {
      const { deleted } = said
      if (deleted) await act(() => client.saveTemplate(deleted.name, deleted.tasks), {})
    },
    clear: () => setSaid({}),
  }
}
