import type { Check } from '../../../core/proof/check.ts'
import type { EventData, StoredEvent, TimelineType } from '../../../core/model/event.ts'
import { checkLabel, runText } from '../tasks/check-text.ts'
import type { EventStrings, Strings } from '../texts/strings.ts'

export interface Names {
  readonly title: (taskId: string) => string | undefined
  readonly check: (checkId: string) => Check | undefined
}

/** Undefined for events that the timeline omits. */
export function eventText(event: StoredEvent, strings: Strings, names: Names): string | undefined {
  if (!Object.hasOwn(SENTENCES, event.type)) return undefined
  const words = { ...strings.timeline, ...(strings.events ?? englishEvents) }
  const sentence = SENTENCES[event.type as TimelineType] as (data: unknown, words: Words) => string | undefined
  return sentence(event.data, {
    ...words,
    strings,
    titleOf: id => names.title(id) ?? words.unknownTask,
    labelOf: id => {
      const check = names.check(id)
      return check ? checkLabel(check, strings) : words.unknownCheck
    },
  })
}

type Words = Strings['timeline'] &
  EventStrings & {
    readonly strings: Strings
    readonly titleOf: (taskId: string) => string
    readonly labelOf: (checkId: string) => string
  }

const SENTENCES: { readonly [T in TimelineType]: (data: EventData[T], words: Words) => string | undefined } = {
  task_created: ({ task, by }, { signed, created, confirmedByPerson, actor }) => {
    const isConfirmed = by === 'person' && task.created_by === 'tool'
    return signed(created(task.title), isConfirmed ? confirmedByPerson : actor[by])
  },
  task_changed: ({ task, from, by }, { strings, signed, changed, list, actor, ...words }) => {
    const { dispute } = task
    if (dispute && Object.hasOwn(from, 'dispute')) {
      const { how, comment } = dispute.ended ?? {}
      if (how === undefined) return signed(words.disputed(task.title, dispute.reason), dispute.by ?? actor[by])
      const said = comment === undefined ? '' : `: ${comment}`
      return signed(words.disputeEnded[how](task.title, strings.status[task.status]) + said, actor[by])
    }
    const status: Readonly<Record<string, string>> = strings.status
    const field: Readonly<Record<string, string>> = words.field
    const changes = Object.keys(from).flatMap(name =>
      name === 'status' ? `${status[from['status'] as string]} → ${status[task.status]}` : (field[name] ?? []),
    )
    return changes.length === 0 ? undefined : signed(changed(task.title, list(changes)), actor[by])
  },
  task_removed: ({ task, by }, { signed, removed, actor }) => signed(removed(task.title), actor[by]),
  task_assessed: ({ task_id, verdict, reason, model }, { titleOf, accepted, rejected, notAssessed }) => {
    const title = titleOf(task_id)
    if (verdict === 'ok') return accepted(title, model)
    return verdict === 'not_ok' ? rejected(title, model, reason) : notAssessed(title, model)
  },
  task_create_review_required: ({ draft_tasks, reopens }, { proposed, reopened }) => {
    const titles = draft_tasks.map(({ title }) => title).join(' · ')
    return reopens === undefined ? proposed(titles) : reopened(titles)
  },
  task_create_review_resolved: ({ action, reason = '', comment, row_comments = [] }, words) => {
    const because: Readonly<Record<string, string>> = words.notConfirmedBecause
    const sentence = action === 'confirm' ? words.confirmed : (because[reason] ?? words.notConfirmed)
    const said = [comment ?? [], row_comments.map(each => `${each.title}: ${each.comment}`)].flat()
    return said.length === 0 ? sentence : `${sentence}: ${said.join(' · ')}`
  },
  review_extended: (_, { extended }) => extended,
  check_approved: ({ task_id, check_id, via }, { titleOf, labelOf, signed, checkApproved, configuration, actor }) =>
    signed(checkApproved(titleOf(task_id), labelOf(check_id)), via === 'configuration' ? configuration : actor.person),
  check_ran: (run, { strings, titleOf, labelOf, signed, checkRan, wholePlan, ranBecause }) => {
    const title = run.task_id === undefined ? wholePlan : titleOf(run.task_id)
    return signed(checkRan(title, labelOf(run.check_id), runText(run, strings)), ranBecause[run.why])
  },
  changes_accepted: ({ task_id, files }, { titleOf, signed, changesAccepted, list, actor }) =>
    signed(changesAccepted(titleOf(task_id), list(files.map(({ path }) => path))), actor.person),
  check_ticked: ({ task_id, check_id }, { titleOf, labelOf, signed, checkTicked, actor }) =>
    signed(checkTicked(titleOf(task_id), labelOf(check_id)), actor.person),
}

export function namesIn(events: readonly StoredEvent[]): Names {
  const tasks = events.flatMap(({ data }) => ('task' in data ? data.task : []))
  const titles = new Map(tasks.map(({ id, title }) => [id, title]))
  const checks = new Map(tasks.flatMap(task => task.checks ?? []).map(check => [check.id, check]))
  return { title: id => titles.get(id), check: id => checks.get(id) }
}

/** Both languages are in this file, because it is loaded with the first history. */
export const englishEvents = {
  /** A sentence, followed by its actor. */
  signed: (sentence: string, actor: string) => `${sentence} (${actor})`,
  created: (title: string) => `Added: ${title}`,
  removed: (title: string) => `Removed: ${title}`,
  accepted: (title: string, judge: string) => `${title}: accepted as done (${judge})`,
  rejected: (title: string, judge: string, reason: string) => `${title}: not accepted (${judge}): ${reason}`,
  notAssessed: (title: string, judge: string) => `${title}: not assessed (${judge})`,
  checkApproved: (title: string, check: string) => `${title}: ${check} approved`,
  checkRan: (title: string, check: string, result: string) => `${title}: ${check} ${result}`,
  ranBecause: {
    baseline: 'before the work',
    claim: 'reported as done',
    final: 'before the plan ended',
    person: 'you asked',
  },
  changesAccepted: (title: string, paths: string) => `${title}: changes accepted to ${paths}`,
  disputed: (title: string, reason: string) => `${title}: disputed: ${reason}`,
  /** How a dispute ended. */
  disputeEnded: {
    changed: (title: string, _status: string) => `${title}: changed after the dispute`,
    settled: (title: string, status: string) => `${title}: dispute settled → ${status}`,
    insisted: (title: string, _status: string) => `${title}: insisted on after the dispute`,
    withdrawn: (title: string, status: string) => `${title}: dispute withdrawn → ${status}`,
  },
  checkTicked: (title: string, check: string) => `${title}: ticked “${check}”`,
  /** The actor of approvals by the configuration. */
  configuration: 'configuration',
  /** A task that no longer exists. */
  unknownTask: 'A task',
  proposed: (titles: string) => `Proposed: ${titles}`,
  reopened: (titles: string) => `Review reopened (you): ${titles}`,
  /** A person extended a review's deadline. */
  extended: 'More time to decide (you)',
  confirmed: 'Plan confirmed',
  /** The outcome of a plan that was not confirmed, by reason; other reasons use `notConfirmed`. */
  notConfirmedBecause: {
    user_cancelled: 'Plan rejected',
    review_timeout: 'Time ran out; nothing was started',
    panel_closed: 'Page closed before a decision',
    turn_stopped: 'Stopped before a decision',
    changes_requested: 'Changes requested',
    superseded: 'Replaced by a newer plan',
  },
  notConfirmed: 'Plan not confirmed',
  /** The actor of a task that the agent proposed and a person confirmed. */
  confirmedByPerson: 'agent, confirmed by you',
}

export const chineseEvents: EventStrings = {
  signed: (sentence, actor) => `${sentence}（${actor}）`,
  created: title => `添加：${title}`,
  removed: title => `移除：${title}`,
  accepted: (title, judge) => `${title}：评审通过（${judge}）`,
  rejected: (title, judge, reason) => `${title}：评审未通过（${judge}）：${reason}`,
  notAssessed: (title, judge) => `${title}：未能评审（${judge}）`,
  checkApproved: (title, check) => `${title}：已批准 ${check}`,
  checkRan: (title, check, result) => `${title}：${check} ${result}`,
  ranBecause: { baseline: '开工前', claim: '报告完成时', final: '计划结束前', person: '应你要求' },
  changesAccepted: (title, paths) => `${title}：已接受对 ${paths} 的改动`,
  disputed: (title, reason) => `${title}：提出异议：${reason}`,
  disputeEnded: {
    changed: title => `${title}：因异议而更改`,
    settled: (title, status) => `${title}：异议已了结 → ${status}`,
    insisted: title => `${title}：有异议，仍坚持要求`,
    withdrawn: (title, status) => `${title}：异议已撤回 → ${status}`,
  },
  checkTicked: (title, check) => `${title}：已勾选“${check}”`,
  configuration: '配置',
  unknownTask: '某项任务',
  proposed: titles => `提出计划：${titles}`,
  reopened: titles => `重新打开审阅（你）：${titles}`,
  extended: '延长审阅时间（你）',
  confirmed: '计划已确认',
  notConfirmedBecause: {
    user_cancelled: '计划被拒绝',
    review_timeout: '时间已到，没有开始任何任务',
    panel_closed: '决定之前页面已关闭',
    turn_stopped: '决定之前已停止',
    changes_requested: '要求修改',
    superseded: '已被新计划取代',
  },
  notConfirmed: '计划未确认',
  confirmedByPerson: '智能体提出，你已确认',
}
