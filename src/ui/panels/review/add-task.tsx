import { Plus } from 'lucide-react'
import { type ReactElement, useState } from 'react'
import { useStrings } from '../texts/strings.ts'

/** `onAdd` resolves to whether the task was added; if not, the title is restored. */
export function AddTask({ onAdd }: { readonly onAdd: (title: string) => Promise<boolean> }): ReactElement {
  const strings = useStrings()
  const [title, setTitle] = useState('')
  const add = async (): Promise<void> => {
    if (title.trim() === '') return
    setTitle('')
    if (!(await onAdd(title))) setTitle(typed => (typed === '' ? title : typed))
  }
  return (
    <form
      className="rs-add"
      onSubmit={event => {
        event.preventDefault()
        void add()
      }}
    >
      <input
        className="rs-input"
        aria-label={strings.newTask}
        placeholder={strings.newTask}
        dir="auto"
        value={title}
        onChange={event => setTitle(event.target.value)}
      />
      <button type="submit" className="rs-button" disabled={title.trim() === ''}>
        <Plus size={16} aria-hidden="true" /> {strings.addTask}
      </button>
    </form>
  )
}
