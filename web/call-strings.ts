/** The texts of what calls a person: the count, the notification, the page of all that waits. */
export interface CallStrings {
  readonly reviews: string
  readonly settings: string
  readonly waiting: (count: string) => string
  /** The same where calls of tools wait, too. */
  readonly decisions: (count: string) => string
  readonly offer: string
  readonly notifyMe: string
  readonly notNow: string
  readonly denied: string
  /** The notification for one review. */
  readonly planWaits: string
  readonly planFrom: (conversation: string, steps: number) => string
  /** A call of a tool: its notification and its row. */
  readonly wantsTool: (tool: string, server: string | undefined) => string
  /** One notification for several. */
  readonly plansWait: (count: number) => string
  readonly openAll: string
  readonly title: string
  readonly steps: (count: number) => string
  readonly moreSteps: (count: number) => string
  readonly byModel: (model: string) => string
  readonly sinceNow: string
  readonly since: (ago: string) => string
  readonly deadline: (left: string) => string
  readonly more: string
  readonly none: string
  readonly noneHint: string
  readonly setUpNotifications: string
}
