// A picture with its title, and the same figures as a table.
import { ChartColumn, Table2 } from "lucide-react";
import { type ReactNode, useId, useLayoutEffect, useRef, useState } from "react";
import { formatPrecise } from "../../lib/format";
import { placed } from "../../lib/placed";
import { t } from "../../strings";
import { IconButton } from "../../ui/Button";
import { openViewer } from "../../viewer/state";
import { Chart } from "./Chart";
import { nameOf } from "./layout";
import { type Drawing, drawingOf, type Picture, placeOfRows, type Value } from "./spec";
import "./picture.css";

export default function PictureView({ picture }: { picture: Picture }): ReactNode {
  const [isTable, setTable] = useState(false);
  const frame = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  const id = useId();
  useLayoutEffect(() => {
    const element = frame.current;
    if (!element) return;
    setWidth(element.clientWidth);
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const drawing = drawingOf(picture);
  if (!drawing) return null;
  const { resource_id: resourceId, filename, version } = picture.usermeta.citewell;
  const show = (value: Value): void =>
    openViewer({ resourceId, filename, version, locator: placeOfRows(picture, value) });
  return (
    <figure className="answer-picture" aria-labelledby={id}>
      <figcaption className="picture-head">
        <strong id={id} className="grow">
          {picture.title}
        </strong>
        <IconButton small label={isTable ? t.asChart : t.asTable} onClick={() => setTable(!isTable)}>
          {isTable ? <ChartColumn size={16} aria-hidden /> : <Table2 size={16} aria-hidden />}
        </IconButton>
      </figcaption>
      <div ref={frame}>
        {isTable ? (
          <Figures drawing={drawing} onShow={show} label={picture.title} />
        ) : (
          width > 0 && <Chart drawing={drawing} width={width} title={picture.title} description={picture.description} />
        )}
      </div>
    </figure>
  );
}

interface FiguresProps {
  drawing: Drawing;
  label: string;
  onShow: (value: Value) => void;
}

function Figures({ drawing, label, onShow }: FiguresProps): ReactNode {
  const hasSeries = drawing.series.length > 1;
  return (
    <div className="picture-table" tabIndex={0} role="region" aria-label={label}>
      <table>
        <thead>
          <tr>
            <th scope="col">{drawing.x}</th>
            {hasSeries && <th scope="col">{drawing.seriesTitle}</th>}
            <th scope="col" className="picture-figure">
              {drawing.y}
            </th>
            <th scope="col">{t.rowsBehind}</th>
          </tr>
        </thead>
        <tbody>
          {placed(drawing.values).map(({ at, item: value }) => (
            <tr key={at}>
              <th scope="row">{nameOf(value)}</th>
              {hasSeries && <td>{value.series}</td>}
              <td className="picture-figure tabular">{value.text ?? formatPrecise(value.y)}</td>
              <td>
                <button type="button" className="link-button" onClick={() => onShow(value)}>
                  {value.rows}
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
