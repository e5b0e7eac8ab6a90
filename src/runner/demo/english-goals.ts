import { isNoun } from './asked.ts'
import { withoutClauses } from './deeds.ts'
import { type GoalKind, peopleIn, quoted } from './goal-kind.ts'
import { doing, gerund } from './english-verbs.ts'
import { ACTIONS, EVENT, JOURNEY } from './lexicon.ts'

/** What the goal is about: "Plan a trip to Rome" is about "trip to Rome". */
function topicOf(goal: string): string {
  const bare = withoutClauses(goal)
    .replace(
      /^(?:please\s+)?[\p{L}]+(?:\s+(?:out|up|down))?\s+(?:me\s+|us\s+)?(?:(?:for|a|an|the|my|our|some)\s+)*/iu,
      '',
    )
    .replace(/[.!?]+$/, '')
  return bare === '' ? goal : bare
}

/** A topic as part of a title: in quotes if it is more than a name. */
const the = (topic: string): string => (isNoun(topic) ? `${isOne(topic) ? 'the ' : ''}${topic}` : quoted(topic))
const name = (topic: string): string => (isNoun(topic) ? topic : quoted(topic))

/** Whether it takes an article: "landing page for our product" does, "electric cars" and "CI" do not. */
function isOne(topic: string): boolean {
  const [head = ''] = topic.split(/\s+(?:for|of|in|at|to|on|about|near|around)\s/i)
  return !/[^su]s$/.test(head) && !/^[A-Z]{2,}$/.test(head)
}

/** The goal itself as part of a title. */
const deed = (goal: string): string => {
  const core = withoutClauses(goal)
  const phrase = doing(core)
  return phrase === undefined ? quoted(lower(core)) : name(phrase)
}

/** When it is to be reached, which is no part of what it is about. */
const SPAN = /\s+(?:(?:in|within|over)\s+(?:\S+\s+){0,2}(?:days?|weeks?|months?|years?)|every\s+\S+|daily|by\s+\S+)$/i

/** What a goal of learning is about: "learn how to cook Thai food" is about "cooking Thai food". */
function subjectOf(goal: string): string {
  const rest = withoutClauses(goal)
    .replace(LEARNING, '')
    .replace(/[.!?]+$/, '')
    .replace(SPAN, '')
  const [, verb = '', more = ''] = /^(?:how\s+)?to\s+(\p{L}+)(.*)$/iu.exec(rest) ?? []
  return name(verb === '' ? rest : gerund(verb.toLowerCase()) + more)
}

const LEARNING = /^(?:learn|study|practi[cs]e|master|get better at)\s+(?:for\s+)?/i

/** Goals of planning end with the plan on paper; those of doing go on to what only a tool can do. */
const isPlanning = (goal: string): boolean =>
  /^(?:plan|prepare|outline|draft|design|think)\b/i.test(goal) && !hasAction(goal)

const hasAction = (goal: string): boolean =>
  (goal.toLowerCase().match(/\p{L}+/gu) ?? []).some(word => ACTIONS.has(word))

const lower = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1)
const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** The first that fits; the last fits all. */
export const englishGoals: readonly GoalKind[] = [
  {
    of: /^(?:write|compose)\b.*\bhaiku\b/i,
    plan: goal => {
      const [, about] = /\bhaiku\s+(?:about|on|of)\s+(.+?)[.!]*$/i.exec(goal) ?? []
      if (about === undefined || hasAction(about))
        return ['Write the checklist for a haiku', capitalised(goal), 'Draft a title for the haiku']
      const on = `about ${name(about)}`
      return ['Write the checklist for a haiku', `Write the haiku ${on}`, `Draft a title for the haiku ${on}`]
    },
  },
  {
    of: /^(?:write|draft|compose)\b/i,
    plan: goal => {
      const topic = the(topicOf(goal))
      return [
        `Draft questions about ${topic}`,
        `Draft an outline for ${topic}`,
        capitalised(goal),
        `Draft a title for ${topic}`,
        `Draft a checklist for ${topic}`,
      ]
    },
  },
  {
    // A test to sit, not one of a program.
    of: /\b(?:interview|exam|exams|presentation|talk|speech|lecture|pitch)\b|^(?:prepare|study|practi[cs]e|learn|pass|plan|revise)\b.*\btest\b/i,
    plan: goal => {
      const topic = the(topicOf(goal))
      const own = /\binterview\b/i.test(goal)
        ? ['Draft an outline for the answers', `Draft a note to the interviewer about ${topic}`]
        : /\b(?:exam|exams|test)\b/i.test(goal)
          ? [`Draft a study plan for ${topic}`, 'Draft an outline for the summary sheet']
          : [`Draft an outline for ${topic}`, `Draft a title for ${topic}`]
      return [
        `Draft questions about ${topic}`,
        ...own,
        `Draft a schedule for ${topic}`,
        `Draft a checklist for the day of ${topic}`,
      ]
    },
  },
  {
    of: EVENT,
    plan: goal => {
      const topic = the(topicOf(goal).replace(/\s+(?:for|with)\s+\d.*$/i, ''))
      const people = peopleIn(goal)
      const first = [
        `Draft a guest list template for ${topic}`,
        people === undefined
          ? `Draft a budget for ${topic}`
          : `Compute the budget for ${people} people at 15 each: ${people} * 15`,
        `Write the invitation to ${topic}`,
      ]
      return isPlanning(goal)
        ? [...first, `Draft a schedule for ${topic}`, `Draft a shopping list for ${topic}`]
        : [...first, 'Book the place', 'Send the invitations']
    },
  },
  {
    of: JOURNEY,
    plan: goal => {
      const topic = the(topicOf(goal))
      const drafts = [
        `Draft an itinerary for ${topic}`,
        `Draft a budget for ${topic}`,
        `Draft a packing list for ${topic}`,
        `Draft a checklist for ${topic}`,
      ]
      return isPlanning(goal)
        ? [`Draft questions about ${topic}`, ...drafts]
        : [...drafts, 'Book the travel and the rooms']
    },
  },
  {
    of: /^(?:learn|study|practi[cs]e|master|get better at)\b/i,
    plan: goal => {
      const subject = subjectOf(goal)
      // "Learning how to" would ask for something.
      const learning = deed(goal.replace(/^(\S+)\s+how\s+to\b/i, '$1 to'))
      return [
        `Draft questions about ${subject}`,
        `Draft a study plan for ${subject}`,
        `Draft a schedule for ${learning}`,
        `Draft criteria for ${learning}`,
        `Draft a checklist for ${learning}`,
      ]
    },
  },
  {
    of: /^(?:translate|locali[sz]e)\b/i,
    plan: goal => {
      const [, text = '', language = 'new'] = /^\S+\s+(.+?)(?:\s+(?:in)?to\s+(.+))?$/i.exec(goal) ?? []
      const topic = the(text.replace(/^(?:the|a|an|my|our|this)\s+/i, ''))
      const result = the(`${language} translation`)
      return [
        `Draft questions about ${topic}`,
        `Draft criteria for ${result}`,
        `Draft an outline for ${the(`${language} glossary`)}`,
        capitalised(goal),
        `Draft a checklist for ${result}`,
      ]
    },
  },
  {
    of: /^(?:clean|tidy|declutter|organi[sz]e(?!\s+an?\b)|sort|clear|paint|repair|renovate|redecorate|decorate|wash)\b/i,
    plan: goal => {
      const topic = deed(goal)
      const isTidying = /^(?:clean|tidy|declutter|organi[sz]e|clear)\b/i.test(goal)
      return [
        `Draft questions about ${topic}`,
        `Draft criteria for ${isTidying ? name(`the things to keep in the ${topicOf(goal)}`) : topic}`,
        `Draft a schedule for ${topic}`,
        capitalised(goal),
        `Draft a checklist for ${topic}`,
      ]
    },
  },
  {
    of: /^(?:move|relocate)\b/i,
    plan: goal => [
      'Draft a checklist for the move',
      'Draft a budget for the move',
      'Draft a schedule for the move',
      'Write an email to the landlord about the move',
      capitalised(goal),
    ],
  },
  {
    of: /\b(?:job|jobs|internship|career)\b/i,
    plan: goal => [
      'Draft criteria for the job',
      'Draft an outline for the résumé',
      'Write an email to the recruiter about the job',
      'Draft questions about the job interview',
      capitalised(goal),
    ],
  },
  {
    of: /\b(?:fit|fitter|fitness|weight|marathon|running|exercise|gym|sleep|diet|healthier|healthy|in shape)\b/i,
    plan: goal => {
      const topic = deed(goal)
      return [
        `Draft questions about ${topic}`,
        `Draft criteria for ${topic}`,
        `Draft a schedule for ${topic}`,
        `Draft a budget for ${topic}`,
        `Draft a checklist for ${topic}`,
      ]
    },
  },
  {
    of: /^(?:choose|decide|pick|compare|find|look for|research|investigate|evaluate)\b/i,
    plan: goal => {
      const about = topicOf(goal)
      const topic = /^(?:whether|if|which|what|where|how|when)\b/i.test(about) ? deed(goal) : the(about)
      return [
        `Draft criteria for ${topic}`,
        `Draft questions about ${topic}`,
        `Draft a checklist for ${topic}`,
        `Look up the facts about ${topic}`,
        'Write the report',
      ]
    },
  },
  {
    of: /^(?:build|develop|create|make|design|implement|launch|release|ship|publish|set up|start|redesign|improve)\b/i,
    plan: goal => {
      const topic = the(topicOf(goal))
      return [
        `Draft criteria for ${topic}`,
        `Draft an outline for ${topic}`,
        capitalised(goal),
        `Draft a checklist for ${topic}`,
        `Draft the announcement of ${topic}`,
      ]
    },
  },
  {
    // One deed.
    of: new RegExp(`^(?:${[...ACTIONS].join('|')}|call|order|book)\\b`, 'i'),
    plan: goal => [`Draft a checklist for ${deed(goal)}`, capitalised(goal), `Check that it worked: ${lower(goal)}`],
  },
  {
    of: /\S/,
    plan: goal => {
      const topic = isPlanning(goal) ? the(topicOf(goal)) : deed(goal)
      return [
        `Draft questions about ${topic}`,
        `Draft a checklist for ${topic}`,
        `Draft a schedule for ${topic}`,
        ...(isPlanning(goal)
          ? [`Draft a budget for ${topic}`, `Draft criteria for ${topic}`]
          : [capitalised(goal), `Check that it worked: ${lower(goal)}`]),
      ]
    },
  },
]
