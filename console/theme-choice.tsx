import { useState } from 'preact/hooks';
import { THEME_KEY } from './theme-key.ts';

const THEMES = [
  ['', 'as the system'],
  ['light', 'light'],
  ['dark', 'dark'],
] as const;

/** A choice of the theme: light, dark, or that of the operating system. The browser stores it. */
export function ThemeChoice() {
  const [theme, setTheme] = useState(document.documentElement.dataset.theme ?? '');
  const choose = (chosen: string) => {
    if (chosen === '') {
      localStorage.removeItem(THEME_KEY);
      delete document.documentElement.dataset.theme;
    } else {
      localStorage.setItem(THEME_KEY, chosen);
      document.documentElement.dataset.theme = chosen;
    }
    setTheme(chosen);
  };
  return (
    <label class="inline">
      Theme
      <select value={theme} onChange={({ currentTarget }) => choose(currentTarget.value)}>
        {THEMES.map(([key, title]) => (
          <option key={key} value={key}>
            {title}
          </option>
        ))}
      </select>
    </label>
  );
}
