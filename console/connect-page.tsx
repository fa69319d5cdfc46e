import { render } from 'preact';
import { LocationProvider } from 'preact-iso';
import { ConnectPage } from './connect/page.tsx';
import { direction, language } from './connect/texts.ts';
import './design.css';

/** The connect page, behind the URL of a connect session: `/connect/{key}`. */
document.documentElement.lang = language;
document.documentElement.dir = direction;

const root = document.querySelector('#page');
if (root !== null)
  render(
    <LocationProvider scope={location.pathname}>
      <ConnectPage pageKey={location.pathname.split('/').at(-1) ?? ''} />
    </LocationProvider>,
    root,
  );
