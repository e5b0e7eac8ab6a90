import { createContext, useContext } from 'react'
import type { CheckKind } from '../domain/check.ts'
import type { Cut, Verdict } from '../domain/event.ts'
import type { EvidenceSource } from '../domain/evidence.ts'
import type { CheckState } from '../domain/check-state.ts'
import type { RunReason } from '../domain/proof.ts'
import type { Finding, Standing } from '../domain/standing.ts'
import type { CancelReason, ReviewStatus, RowStatus } from '../domain/review.ts'
import type { PlanOutcome, PlanRow } from '../domain/plan-card.ts'
import type { ApprovalDecision, ToolChange } from '../domain/tool-approval.ts'
import type { EndReason } from '../domain/turn.ts'
import type { AnsweredFailure, FailureCode } from './turn-words.ts'
import type { ToolVerb } from './tool-words.ts'
import type { Actor, Priority, TaskStatus } from '../domain/task.ts'
import { english } from './english.ts'
import type { ErrorStrings } from './error-text.ts'

/** Every text that the panels show. `english` and `chinese` are built in; another language is another object like them. */
export interface Strings {
  /** BCP 47 language tag, for dates and times. */
  readonly locale: string

  readonly plan: string
  readonly showPlan: string
  readonly hidePlan: string
  readonly progress: (done: number, total: number) => string
  readonly remaining: (count: number) => string
  readonly blocked: (count: number) => string
  readonly cancelled: (count: number) => string
  readonly more: (count: number) => string
  readonly elapsed: (time: string) => string
  readonly unfinished: (count: number) => string
  readonly stepLimitReached: (count: number) => string
  readonly seconds: (seconds: string) => string
  readonly allDone: (steps: number) => string
  readonly doneSteps: (steps: number) => string
  readonly leftSteps: (steps: number) => string
  readonly continueTurn: string
  readonly addTask: string
  readonly newTask: string
  readonly edit: string
  readonly rename: string
  readonly markDone: string
  readonly reopen: string
  readonly cancelTask: string
  readonly moreActions: string
  readonly unseenByAgent: string
  readonly unseenByAgentShort: string

  readonly moveUp: string
  readonly moveDown: string
  readonly drag: string
  readonly movedTo: (position: number, count: number) => string
  readonly remove: string
  readonly removed: (title: string) => string
  readonly undone: string
  readonly redone: string
  readonly save: string
  readonly discard: string
  readonly retry: string
  readonly close: string
  readonly copy: string
  readonly copied: string
  readonly sending: string
  readonly notLoaded: string
  readonly reload: string

  readonly status: Readonly<Record<TaskStatus, string>>
  readonly rowStatus: Readonly<Record<RowStatus, string>>
  readonly priority: Readonly<Record<Priority, string>>

  readonly review: string
  readonly reviewPending: (tasks: number) => string
  readonly timeLeft: (time: string) => string
  readonly moreTime: string
  readonly title: string
  readonly details: string
  readonly criteria: string
  readonly priorityLabel: string
  readonly statusLabel: string
  readonly tagsLabel: string
  readonly tagsInput: string
  readonly separatedByCommas: string
  readonly moreFields: string
  readonly fewerFields: string
  readonly addRow: string
  readonly selectRow: (row: number) => string
  readonly selected: (count: number) => string
  readonly setTags: string
  readonly tagsSet: (rows: number) => string
  readonly comment: string
  /** What a person says about one row. */
  readonly rowComment: string
  readonly confirm: (steps: number) => string
  readonly cancel: string
  readonly requestChanges: string
  readonly sayWhatToChange: string
  /** Of a plan that differs from the one that was sent back. */
  readonly revised: string
  readonly noTitle: (row: number) => string
  readonly noRows: string
  readonly tooManyRows: (limit: number) => string
  readonly rowNeedsFixing: (row: number) => string
  readonly failedToSend: string
  readonly askCancel: string
  readonly askDiscard: string
  readonly cancelPlan: string
  readonly keepEditing: string
  readonly earlierEdits: string
  readonly restoreEdits: string
  readonly reviewing: ReviewStrings
  readonly templates: TemplateStrings

  readonly outcome: Readonly<Record<ReviewStatus, string>>
  readonly decidedElsewhere: (outcome: string) => string
  readonly agentStopped: string
  readonly pageClosed: string
  readonly timedOut: (hasEdits: boolean) => string
  readonly superseded: string
  readonly changesRequestedElsewhere: string
  readonly editsSaved: string
  readonly editsNotSent: string
  readonly yourEdits: string

  readonly checks: CheckStrings
  readonly evidence: EvidenceStrings
  /** The texts of a thread; without them it is in English. */
  readonly thread?: ThreadStrings

  readonly history: string
  readonly timeline: TimelineStrings
  readonly errors: ErrorStrings
}

/** The texts about a plan that is edited: what differs, what can be undone, what is done to several steps at once. */
export interface ReviewStrings {
  /** Follows the heading. */
  readonly steps: (count: number) => string
  /** Beside the heading: other plans of the conversation that wait. */
  readonly othersWait: (plans: number) => string
  readonly stepsAbove: (count: number) => string
  readonly stepsBelow: (count: number) => string
  readonly undo: string
  readonly redo: string
  readonly edited: (steps: number) => string
  readonly added: (steps: number) => string
  readonly removed: (steps: number) => string
  readonly reordered: string
  readonly resetAll: string
  readonly reset: string
  /** What the person did to a step. */
  readonly change: Readonly<Record<'edited' | 'added' | 'moved' | 'removed', string>>
  /** What the agent did to a step, compared with the plan before. */
  readonly revision: Readonly<Record<'edited' | 'new' | 'moved', string>>
  /** Of a plan that equals the one that was sent back. */
  readonly unrevised: string
  /** Stands between that and what the person asked to change. */
  readonly youAsked: string
  readonly aboutStep: (title: string, comment: string) => string
  /** No plan answered a request for changes. */
  readonly unanswered: string
  readonly noLongerPlanned: string
  readonly rejected: string
  readonly rejectedIn: (seconds: number) => string
  readonly select: string
  readonly selectAll: string
  readonly clearSelection: string
  readonly deleteSelected: string
  readonly stepsRemoved: (count: number) => string
  readonly nextCheck: string
  /** The only one that is left. */
  readonly showCheck: string
}

/** The texts about saved plans. */
export interface TemplateStrings {
  readonly title: string
  readonly open: string
  readonly none: string
  readonly insert: (steps: number) => string
  readonly rename: string
  readonly remove: string
  readonly removed: (name: string) => string
  readonly saveAs: (steps: number) => string
  readonly name: string
  readonly saved: (name: string) => string
  readonly exists: (name: string) => string
  readonly replace: string
}

/** The texts of a thread: decided plans, steps, tools and ends. */
export interface ThreadStrings {
  /** How a plan ended that was not approved. */
  readonly decided: Readonly<Record<Exclude<PlanOutcome, 'approved'>, string>>
  readonly approved: (steps: number) => string
  readonly edited: (rows: number) => string
  readonly added: (rows: number) => string
  readonly removed: (rows: number) => string
  readonly reordered: string
  readonly comments: (rows: number) => string
  /** Behind a check. */
  readonly notApproved: string
  readonly continuedLater: string
  /** Where a turn goes on with a reopened plan, by how that was decided. */
  readonly continued: Readonly<Record<'approved' | 'changes_requested', string>>
  readonly quoted: (comment: string) => string
  /** What became of a row. */
  readonly row: Readonly<Record<Exclude<PlanRow['change'], 'kept' | 'proposed'>, string>>
  readonly removedStep: string
  /** A tool by what it does: done, and while it runs. The subject follows. */
  readonly use: Readonly<Record<ToolVerb, readonly [done: string, doing: string]>>
  /** Any other tool. */
  readonly used: (tool: string) => string
  readonly using: (tool: string) => string
  readonly useFailed: string
  /** A call that waits for a person. */
  readonly approval: Readonly<Record<ApprovalDecision, string>> & {
    /** Before the name of the tool. */
    readonly asks: string
    /** After it. */
    readonly of: (server: string) => string
    readonly noInput: string
    readonly readOnly: string
    readonly changed: Readonly<Record<ToolChange, string>>
    readonly notSaved: (why: string) => string
    /** Of a call in the thread. */
    readonly waits: string
    readonly denied: string
  }
  readonly input: string
  readonly output: string
  readonly noOutputYet: string
  /** Of a call that its turn left without an answer, and of its output. */
  readonly unanswered: readonly [string, string]
  readonly outputFailed: string
  readonly verdict: Readonly<Record<Verdict, string>>
  /** A line that begins with what it is. */
  readonly about: (label: string, text: string) => string
  readonly claimed: string
  /** The same while it is looked into. */
  readonly claimWaits: string
  /** An answer is not whole; `characters` are how many there are, as text. */
  readonly cut: Readonly<Record<Cut, (characters: string) => string>>
  readonly followedUp: (times: number) => string
  readonly stopped: string
  readonly notFinished: string
  /** Why a turn ended early. */
  readonly because: Readonly<Partial<Record<EndReason, string>>>
  readonly retryBlocked: string
  readonly failed: string
  /** By the code of a failure: what happened, and what to do, with the environment variable that may be wrong. */
  readonly openSettings: string
  /** What failed, by its code; then that with the provider's status, the URL that was tried, and what was said there. */
  readonly failureSays: Readonly<Record<AnsweredFailure, string>>
  readonly failureAnswer: (status: string, url: string, said: string) => string
  readonly modelChanged: (before: string, now: string) => string
  readonly failures: Readonly<Record<FailureCode, readonly [title: string, hint: (setting: string) => string]>>
}

/** The texts about how a task was worked on: verdicts and tool calls. */
export interface EvidenceStrings {
  readonly title: string
  readonly verdicts: string
  readonly verdict: Readonly<Record<Verdict, string>>
  readonly noReason: string
  readonly cites: (calls: number) => string
  readonly uncited: string
  readonly onWordsAlone: string
  readonly fenced: string
  readonly succeeded: string
  /** Who reports a call that is not our own. */
  readonly says: Readonly<Record<Exclude<EvidenceSource, 'run'>, string>>
  readonly leftOut: (calls: number) => string
  readonly tryAgain: string
}

/** The texts about checks, and about how far "done" can be trusted. */
export interface CheckStrings {
  readonly title: string
  readonly count: (checks: number) => string
  /** What a check is, as the name of its text. */
  readonly kind: Readonly<Record<CheckKind | 'absent', string>>
  readonly exists: (path: string) => string
  readonly isAbsent: (path: string) => string
  readonly isUnchanged: (paths: string) => string
  readonly inFolder: (folder: string) => string
  readonly exits: (code: number) => string
  readonly exitCode: (code: number) => string
  readonly contains: (text: string) => string
  readonly within: (seconds: number) => string
  /** Above the checks of the whole plan. */
  readonly atTheEnd: string
  /** For a plan whose checks there is no workspace for; the option that names one follows. */
  readonly leftOut: string
  readonly add: string
  readonly addInput: (example: string) => string
  readonly mayChange: string
  readonly mayChangeInput: (example: string) => string
  readonly approve: string
  readonly approveOne: string
  readonly approved: (approved: number, count: number) => string
  /** Of a plan or a step. */
  readonly notApproved: (count: number) => string
  readonly willNotRun: (count: number) => string
  readonly isOwn: string
  readonly isAllowed: string
  readonly state: Readonly<Record<CheckState | 'queued' | 'unticked' | 'unapproved', string>>
  /** What a check says about its task, where its state does not. */
  readonly finding: Readonly<Partial<Record<Finding, string>>>
  readonly run: string
  readonly runAgain: string
  readonly stop: string
  readonly tick: string
  readonly output: string
  readonly showOutput: string
  readonly noOutput: string
  readonly failsNow: string
  readonly filesChanged: string
  readonly guarded: string
  readonly acceptGuards: string
  /** Settles a task that the judge or a check did not accept. */
  readonly acceptAnyway: string
  /** Takes over what is done already. */
  readonly confirm: string
  readonly checking: (check: string) => string
  readonly waitsForYou: string
  /** How a completed task got there, in one word. */
  readonly standing: Readonly<Record<Standing, string>>
  /** The same as a sentence. */
  readonly standingReason: Readonly<Record<Standing, string>>
  /** How many tasks have a standing. */
  readonly standingCount: Readonly<Record<Standing, (count: number) => string>>
  readonly tally: (done: number, total: number, standings: readonly string[]) => string
}

/** The texts of the timeline. */
export interface TimelineStrings {
  /** A sentence, followed by who did it. */
  readonly signed: (sentence: string, actor: string) => string
  readonly list: (changes: readonly string[]) => string
  readonly created: (title: string) => string
  readonly removed: (title: string) => string
  readonly changed: (title: string, changes: string) => string
  readonly accepted: (title: string, judge: string) => string
  readonly rejected: (title: string, judge: string, reason: string) => string
  readonly notAssessed: (title: string, judge: string) => string
  readonly checkApproved: (title: string, check: string) => string
  readonly checkRan: (title: string, check: string, result: string) => string
  readonly ranBecause: Readonly<Record<RunReason, string>>
  readonly guardsAccepted: (title: string, paths: string) => string
  readonly checkTicked: (title: string, check: string) => string
  /** A check that is no longer known, or one of the whole plan. */
  readonly unknownCheck: string
  readonly wholePlan: string
  /** The actor of what the configuration approved. */
  readonly configuration: string
  /** A task that is no longer known. */
  readonly unknownTask: string
  readonly proposed: (titles: string) => string
  readonly reopened: (titles: string) => string
  /** A person gave a review more time. */
  readonly extended: string
  readonly confirmed: string
  /** How a plan ended that was not confirmed, by reason; other reasons are `notConfirmed`. */
  readonly notConfirmedBecause: Readonly<Record<CancelReason, string>>
  readonly notConfirmed: string
  /** The actor of a task that the agent proposed and a person confirmed. */
  readonly confirmedByPerson: string
  readonly actor: Readonly<Record<Actor, string>>
  /** What happened to a field; fields that are not listed are left out. */
  readonly field: Readonly<Record<string, string>>
}

/** The strings that panels use; English without a provider. `RunsheetProvider` sets it, too. */
export const StringsContext = createContext<Strings>(english)
/** The texts of the panels in the language of the page. */
export const useStrings = (): Strings => useContext(StringsContext)
