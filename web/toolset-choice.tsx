import { ChevronDown } from 'lucide-react'
import { type ReactElement, useId, useRef } from 'react'
import type { ToolsetName } from 'runsheet/client'
import { englishToolsets } from './english-toolsets.ts'
import type { PageStrings } from './page-strings.ts'
import { type ToolsetPolicy, TOOLSETS } from './toolset-policies.ts'
import './toolset-choice.css'

interface ToolsetChoiceProps {
  readonly strings: PageStrings
  readonly toolset: ToolsetName
  /** That of the conversation, while it keeps its toolset. */
  readonly policy: ToolsetPolicy | undefined
  readonly isDisabled: boolean
  readonly onChoose: (policy: ToolsetPolicy) => void
}

const CHECKS = ['review', 'assessor', 'gate'] as const

const GAP_PX = 6

/** Chooses the toolset of the next message; says what each is, and where no review takes place. */
export function ToolsetChoice(props: ToolsetChoiceProps): ReactElement {
  const { strings, toolset, policy, isDisabled, onChoose } = props
  const words = strings.toolsets ?? englishToolsets
  const id = useId()
  const button = useRef<HTMLButtonElement>(null)
  const list = useRef<HTMLFieldSetElement>(null)
  const shown = TOOLSETS.map(each => (each.toolset === policy?.toolset ? checksOf(policy) : each))
  const isReviewed = shown.find(each => each.toolset === toolset)?.review ?? true
  const place = (): void => {
    const at = button.current?.getBoundingClientRect()
    const { style, offsetWidth = 0 } = list.current ?? {}
    if (!at || !style) return
    style.left = `${Math.max(GAP_PX, Math.min(at.left, innerWidth - offsetWidth - GAP_PX))}px`
    style.bottom = `${innerHeight - at.top + GAP_PX}px`
    style.maxHeight = `${at.top - 2 * GAP_PX}px`
    list.current?.querySelector<HTMLElement>(':checked')?.focus()
  }
  return (
    <>
      <button
        ref={button}
        type="button"
        className="app-toolset"
        popoverTarget={id}
        disabled={isDisabled}
        title={strings.toolset}
      >
        <span className="rs-sr">{strings.toolset}: </span>
        {words.of[toolset][0]} <ChevronDown size={14} aria-hidden="true" />
      </button>
      {!isReviewed && (
        <span className="app-toolset-note" role="status" title={words.noReview + words.noReviewWhy}>
          {words.noReview}
          <span className="app-toolset-why">{words.noReviewWhy}</span>
        </span>
      )}
      <fieldset
        ref={list}
        id={id}
        popover="auto"
        className="app-toolsets"
        onToggle={({ newState }) => newState === 'open' && place()}
      >
        <legend>{words.heading}</legend>
        {shown.map(each => {
          const [name, about] = words.of[each.toolset]
          return (
            <label key={each.toolset}>
              <input
                type="radio"
                name={id}
                checked={each.toolset === toolset}
                aria-describedby={`${id}-${each.toolset}`}
                onChange={() => onChoose(each)}
                onClick={({ detail }) => detail > 0 && list.current?.hidePopover()}
                onKeyDown={event => {
                  if (event.key !== 'Enter') return
                  event.preventDefault()
                  list.current?.hidePopover()
                }}
              />
              <span>
                <strong>{name}</strong> <code>{each.toolset}</code>
                <span className="app-toolset-about" id={`${id}-${each.toolset}`}>
                  {about}
                  <span className="app-toolset-checks">
                    {!each.review && <span className="app-toolset-off">{words.noReview}</span>}
                    {CHECKS.filter(check => each[check]).map(check => (
                      <span key={check}>{words[check]}</span>
                    ))}
                  </span>
                </span>
              </span>
            </label>
          )
        })}
      </fieldset>
    </>
  )
}

/** Without the limits, which a message does not choose. */
const checksOf = ({ toolset, review, assessor, gate }: ToolsetPolicy): ToolsetPolicy => ({
  toolset,
  review,
  assessor,
  gate,
})
