"""`python -m benchmarks.bundled FOLDER`: the datasets that scikit-learn brings along, as files that experiments read.

Each class is a label. Sieve was designed without them, so they are held out for docs/selection-quality.md.
"""

import sys
from pathlib import Path

from sklearn.datasets import load_breast_cancer, load_digits, load_wine

LOADERS = {"digits": load_digits, "breast_cancer": load_breast_cancer, "wine": load_wine}


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, loader in LOADERS.items():
        X, y = loader(return_X_y=True)
        classes = [f"class_{number}" for number in range(y.max() + 1)]
        header = [f"@relation {name}", *(f"@attribute column_{number} numeric" for number in range(X.shape[1]))]
        header += [f"@attribute {label} {{0,1}}" for label in classes]
        rows = [
            ",".join([*map(repr, row), *(str(int(y_row == c)) for c in range(len(classes)))])
            for row, y_row in zip(X.tolist(), y, strict=True)
        ]
        (folder / f"{name}.arff").write_text("\n".join([*header, "@data", *rows]) + "\n", encoding="utf-8")
        labels = "".join(f'<label name="{label}"></label>\n' for label in classes)
        xml = f'<?xml version="1.0" encoding="utf-8"?>\n<labels xmlns="http://mulan.sourceforge.net/labels">\n{labels}</labels>\n'
        (folder / f"{name}.xml").write_text(xml, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
