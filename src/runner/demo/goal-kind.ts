/** Goals of one kind, and the steps of a plan for them. */
export interface GoalKind {
  readonly of: RegExp
  readonly plan: (goal: string) => string[]
}

/** A topic that is more than a name, so that it asks for nothing as part of a title. */
export const quoted = (text: string): string => `“${text.replaceAll(/[“”"]/g, '')}”`

export const peopleIn = (goal: string): string | undefined =>
  /(\d{1,5})\s*(?:people|persons|guests|friends|kids|children|colleagues|个?人|位|名)/i.exec(goal)?.[1]
