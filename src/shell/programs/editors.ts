import { applyPatch } from '../special/apply-patch.ts'
import { runEditor } from '../special/own-code.ts'
import { family, nothing, type Programs } from './program.ts'

const editorOptions = 'c: cmd: S:'

const editors: Programs = {
  'vi vim rvi rvim gvi gvim rgvi rgvim nvim ex ed red vimdiff gvimdiff nvimdiff': {
    options: editorOptions,
    reads: ['all', '-S'],
    writes: ['all'],
    special: runEditor,
  },
  'view rview': { reads: ['all', '-S'], special: runEditor, options: editorOptions },
  'nano pico': { reads: ['all'], writes: ['all'], code: ['-s'], options: 'speller=s:' },
  emacs: { reads: ['all'], writes: ['all'], inlineCode: /^--?(eval|execute|batch)/ },
  'code sudoedit': { reads: ['all'], writes: ['all'] },
}

/** Tools of agents that work on files: our names, and the usual ones of MCP servers and programs. */
const fileTools: Programs = {
  'Write Edit MultiEdit NotebookEdit write_file write_text_file create_file edit_file append_file': { writes: ['all'] },
  'append_to_file update_file save_file overwrite_file patch_file replace_in_file': { writes: ['all'] },
  'str_replace_editor str_replace_based_edit_tool': { writes: ['all'] },
  'Read NotebookRead Grep read_file read_text_file read_media_file': { reads: ['all'] },
  'read_multiple_files read_files get_file': { reads: ['all'] },
  'Delete delete_file remove_file': { deletes: ['all'] },
  'delete_directory remove_directory delete_folder': { deletes: ['all', 'all/**'] },
  'move_file rename_file move_directory move_path': { deletes: ['init', 'init/**'], writes: ['last', 'last/**'] },
  'copy_file copy_directory copy_path': { reads: ['init'], writes: ['last', 'last/**'] },
  'apply_patch applypatch': { files: applyPatch },
}

/** Editors of people and of agents. */
export const editorPrograms = family(nothing, { ...editors, ...fileTools })
